/* Members of JSON objects. */
#ifndef UMBRA_GRINDER_JSON_TEXT_H
#define UMBRA_GRINDER_JSON_TEXT_H

#include <stdio.h>

/* "key":"text", or null for null. */
void json_write_text(FILE *stream, const char *key, const char *text);

#endif
