/*
 * A line on the user's terminal that says which file is being instrumented, while the recorded
 * program waits for that:
 *
 *      umbra: instrumenting libLLVM-14.so.1, file 17, 3 s
 *
 * The program has the terminal, too. So the line stands below the cursor, which stays where the
 * program left it; it is shown after a tenth of a second, and goes when nothing is made any more.
 * Nothing is shown while a program has taken the terminal over (it reads keys, not lines), or where
 * TERM is dumb.
 */
#ifndef UMBRA_FRONT_MAKING_LINE_H
#define UMBRA_FRONT_MAKING_LINE_H

/* A descriptor of the terminal that standard error is, by which nobody waits; closed by exec. -1 if
   that is none. */
int making_line_open(void);

/* From now on it is shown there, as long as that process is there: a pidfd, or -1 for ever. Then
   the terminal is closed, for who waits until nobody has it. Starts threads. */
void making_line_begin(int terminal, int owner);

/* A file is being made, until making_line_remove with what is returned. By any thread; does nothing
   before making_line_begin. */
int making_line_add(const char *path);
void making_line_remove(int place);

#endif
