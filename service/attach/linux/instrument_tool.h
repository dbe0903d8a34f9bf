/* The tool `instrument`, run as a child. */
#ifndef UMBRA_SERVICE_INSTRUMENT_TOOL_H
#define UMBRA_SERVICE_INSTRUMENT_TOOL_H

#include <limits.h>
#include <stdbool.h>

#define INSTRUMENT_TEXT_SIZE 1024

/* Beside this program, or in the same build folder. False: it is in neither. */
bool instrument_tool_find(char path[PATH_MAX]);

/* words: the command, null at the end. output: what it prints goes there; -1: nowhere. text: the first line of what it
   says on standard error, cut to size. False: it did not end with status 0. */
bool instrument_tool_run(char *const *words, int output, char text[INSTRUMENT_TEXT_SIZE]);

#endif
