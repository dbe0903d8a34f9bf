/* What the front says to its user, on standard error: one line, "umbra: " in front. */
#ifndef UMBRA_FRONT_SAY_H
#define UMBRA_FRONT_SAY_H

#define STATUS_FAILED 1
#define STATUS_USAGE  2

__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* Says it and ends the process. */
__attribute__((format(printf, 2, 3), noreturn)) void say_and_exit(int status, const char *format,
                                                                  ...);

/* A word as a shell takes it, to be freed: for commands that a message names. */
char *say_quoted(const char *word);

/* From now on commands are shown before they are run. */
void say_commands(void);
/* "umbra: + WORD…", on one line, with the quotation marks that a shell needs; only after
   say_commands. */
void say_command(char *const *arguments);

#endif
