/* Text that comes from elsewhere. */
#ifndef UMBRA_SERVICE_UTF8_H
#define UMBRA_SERVICE_UTF8_H

#include <stdbool.h>

/* Control characters, and bytes that are no well-formed UTF-8 (RFC 3629), become '?'. */
void utf8_sanitise(char *text);

/* Returns true if utf8_sanitise would leave it as it is. */
bool utf8_is_plain(const char *text);

#endif
