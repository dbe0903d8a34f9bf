/*
 * Text that came from traces and binaries. A control character in it would act on the user's
 * terminal or begin a new line in a format of lines; it is shown as '?'. UTF-8 passes.
 */
#ifndef UMBRA_GRINDER_TEXT_H
#define UMBRA_GRINDER_TEXT_H

#include <stdio.h>

void text_make_printable(char *text);

/* Writes text as text_make_printable would leave it. */
void text_write(FILE *stream, const char *text);

#endif
