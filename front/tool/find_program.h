/* The program that a command names. */
#ifndef UMBRA_FRONT_FIND_PROGRAM_H
#define UMBRA_FRONT_FIND_PROGRAM_H

#define STATUS_NOT_FOUND 127 /* as shells have it; one less: it cannot be executed */

/* Its path as execvp finds it, to be freed. Ends the process after a message if it is nowhere, or cannot be
   executed. */
char *program_require(const char *name);

#endif
