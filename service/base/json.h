/* JSON, as far as the service writes it. */
#ifndef UMBRA_SERVICE_JSON_H
#define UMBRA_SERVICE_JSON_H

#include <stddef.h>

/*
 * Writes text as a JSON string, quotes included; what utf8_sanitise would change becomes '?'. Cut
 * to size, at the end of a character, as soon as it does not fit. Returns string.
 */
char *json_string(char *string, size_t size, const char *text);

#endif
