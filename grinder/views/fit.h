/* Text made to fit a line of a terminal: cut, or continued below. */
#ifndef UMBRA_GRINDER_FIT_H
#define UMBRA_GRINDER_FIT_H

#include <stddef.h>
#include <stdio.h>

/* What stands for what was cut, on a terminal that shows UTF-8, and elsewhere. */
#define FIT_ELLIPSIS       "…"
#define FIT_ASCII_ELLIPSIS "..."

/* Columns that a terminal shows it in: East Asian characters take two, accents none. */
size_t fit_columns(const char *text);

/* A copy in that many columns at most, to be freed: of what does not fit, the middle is left out, since
   names of C++ and paths differ at both of their ends. Bad bytes are '?' (utf8.h). */
char *fit_cut(const char *text, size_t columns, const char *ellipsis);

/* Lines of words; those behind the first are indented. A word that is longer than a line is cut. Ends
   with a line's end. */
void fit_wrap(FILE *stream, const char *text, size_t columns, size_t indent, const char *ellipsis);

/* In place, for terminals that show no UTF-8: '~' for what stands for what was cut, '?' for other
   characters. */
void fit_to_ascii(char *text);

#endif
