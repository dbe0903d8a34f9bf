/*
 * What instrument says, in lines. Control characters and bytes that are no UTF-8, which names of
 * files and functions may hold, become '?' (support/utf8.h): none gets to a terminal.
 */
#ifndef UMBRA_REWRITER_SAY_H
#define UMBRA_REWRITER_SAY_H

#include "support/failure.h"

/* From now on only problems are said, and no progress is shown. */
void say_problems_only(void);

/* What came of it: a line on stdout. The format without the newline. */
void say_result(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What people should know of it: a line on stderr, "instrument: " in front. The line that shows
   progress is taken away before. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says why something could not be done: a line on stderr, "instrument: " in front, also after
   say_problems_only. */
void say_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* To be called after writing to stdout by other means, before anything else can change errno. */
void say_check_stdout(void);
/* Fails if stdout did not take all that was written to it. */
bool say_end(struct failure *failure);

#endif
