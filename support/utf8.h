/*
 * Text that comes from elsewhere: names in traces and binaries, paths, what a program calls itself.
 *
 * Bad is each byte that is not well-formed UTF-8 (RFC 3629), and each control character. A control
 * character would act on the user's terminal, begin a new line in a format of lines or, as U+202E
 * does, show the text behind it in another order.
 */
#ifndef UMBRA_SUPPORT_UTF8_H
#define UMBRA_SUPPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define UTF8_REPLACEMENT    0xfffdu
#define UTF8_CHARACTER_SIZE 4 /* bytes at most */

/* The next character, *text advanced past it; UTF8_REPLACEMENT for each bad byte or character. 0 at
 * the end, which is not passed. */
uint32_t utf8_next(const char **text);

/* Writes one character's bytes, without a zero. Returns how many. */
size_t utf8_encode(char bytes[UTF8_CHARACTER_SIZE], uint32_t value);

/* Each bad byte becomes '?', so that the text is as long as before: for terminals and formats of
 * lines. */
void utf8_sanitise(char *text);

/* Returns true if utf8_sanitise would leave it as it is. */
bool utf8_is_plain(const char *text);

/* One character. */
void utf8_write(FILE *stream, uint32_t value);

/* Text as utf8_sanitise would leave it. */
void utf8_write_plain(FILE *stream, const char *text);

/*
 * Writes a cell of tab-separated values. A spreadsheet takes a cell that begins with = + - or
 * @ for a formula, and strips quotation marks and blanks first: such text gets a ' in front.
 * Numbers are not for this.
 */
void utf8_write_cell(FILE *stream, const char *text);

/* A JSON string, with its quotation marks. Bad is replaced by UTF8_REPLACEMENT, here and below. */
void utf8_write_json(FILE *stream, const char *text);

/* Text or the value of an attribute, of XML. */
void utf8_write_xml(FILE *stream, const char *text);

#endif
