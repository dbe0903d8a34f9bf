/* UTF-16, as Windows has it, and UTF-8, as traces and the protocol have it. */
#ifndef UMBRA_HOOKS_WINDOWS_TEXT_H
#define UMBRA_HOOKS_WINDOWS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* length: of `from`, in units. What fits is copied and terminated; a pair of units that is none
   becomes a replacement character. */
void text_from_wide(char *to, size_t size, const wchar_t *from, size_t length);

/* False: it does not fit in `size` units, its zero included. */
bool text_to_wide(wchar_t *to, size_t size, const char *from);

#endif
