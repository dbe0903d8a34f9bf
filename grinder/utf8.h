/* Names from traces and binaries in formats that must be UTF-8. */
#ifndef UMBRA_GRINDER_UTF8_H
#define UMBRA_GRINDER_UTF8_H

#include <stdint.h>
#include <stdio.h>

#define UTF8_REPLACEMENT 0xfffdu

/* The next character, *text advanced past it; UTF8_REPLACEMENT for each byte that is not part of
   one, and for control characters. 0 at the end, which is not passed. */
uint32_t utf8_next(const char **text);

/* A copy of text that is valid UTF-8, to be freed. */
char *utf8_copy(const char *text);

/* One character. */
void utf8_write(FILE *stream, uint32_t value);

/* A JSON string, with its quotation marks. */
void utf8_write_json(FILE *stream, const char *text);

/* Text or the value of an attribute, of XML. */
void utf8_write_xml(FILE *stream, const char *text);

#endif
