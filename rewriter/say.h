/* What instrument says where nothing is wrong. All of it is silent once --quiet was given. */
#ifndef UMBRA_REWRITER_SAY_H
#define UMBRA_REWRITER_SAY_H

/* From now on nothing is said, nor progress shown. */
void say_nothing(void);

/* What came of it: a line on stdout. The format without the newline. */
void say_result(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What people should know of it: a line on stderr, "instrument: " in front. The line that shows
   progress is taken away before. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
