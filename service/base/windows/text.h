/* Text of Windows, UTF-16, and ours, UTF-8. */
#ifndef UMBRA_SERVICE_WINDOWS_TEXT_H
#define UMBRA_SERVICE_WINDOWS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* Both return false, errno ENAMETOOLONG or EILSEQ, if it does not fit or is malformed. */
bool text_to_wide(wchar_t *wide, size_t count, const char *text);
bool text_from_wide(char *text, size_t size, const wchar_t *wide);

/* To be freed; null, errno set. */
wchar_t *text_to_new_wide(const char *text);
char *text_from_new_wide(const wchar_t *wide);

#endif
