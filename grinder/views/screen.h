/* A terminal whose lines are written again and again, and whose keys are read at once. */
#ifndef UMBRA_GRINDER_SCREEN_H
#define UMBRA_GRINDER_SCREEN_H

#include <stdbool.h>

/* Takes over the terminal; it is given back by screen_end, and when a signal ends the program. */
void screen_begin(void);
void screen_end(void);

/* $LINES and $COLUMNS, or 24 and 80, where the terminal does not say. */
void screen_size(int *rows, int *columns);

/* To the upper left; what was there stays until it is written over. */
void screen_home(void);

/* Ends a line, or the last one: what was right of it, or below it, is gone. */
void screen_end_line(void);
void screen_end_page(void);

/* A key, if one is pressed within that time; 0 if none is, or the size has changed; -1 if there
 * will be none any more. */
int screen_key(unsigned wait_ms);

#endif
