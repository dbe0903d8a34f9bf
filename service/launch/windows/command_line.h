/* The one string that Windows gives a program instead of arguments. */
#ifndef UMBRA_SERVICE_WINDOWS_COMMAND_LINE_H
#define UMBRA_SERVICE_WINDOWS_COMMAND_LINE_H

/*
 * Joins the arguments so that the C library of the program splits them into the same ones. To be
 * freed; null if there is no memory.
 */
char *command_line_join(char **arguments);

#endif
