/* For tests of grinder/symbols/lines.h: files that compilers make in a folder, and their lines. */
#ifndef UMBRA_GRINDER_LINES_SAMPLE_H
#define UMBRA_GRINDER_LINES_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/symbols/lines.h"
#include "support/failure.h"

/*
 * Of the test, from make_folder to remove_folder. There are sources in it, with labels in_NAME in their
 * functions:
 *
 *      outer.c, inner.h    entry calls scale, which calls clamp; both are inlined. clamp has a cold part
 *      geometry.cpp        within calls measure, a template, which calls Point's twice
 *      broken.s            in_broken has a line; what is inlined there cannot be read
 */
extern char folder[];
int make_folder(void **state);
int remove_folder(void **state);

void write_file(const char *name, const char *text);

/* Runs a command in the test's folder. */
int run(const char *command);
bool has_program(const char *name);

/* Makes made.so; false if there is no such compiler. */
bool compile(const char *compiler, const char *options);

/* In made.so. */
uint64_t address_of(const char *label);

/* Begins a table of the addresses of labels in made.so. */
void begin_table(struct line_table *table, const char *const *labels, size_t count);
bool read_made(struct line_table *table, struct failure *failure);

/* Reads made.so with one spot. */
void read_spot(struct line_table *table, const char *label);

/* What is inlined leads to an end, and names what the table has. */
void expect_sound(const struct line_table *table);

#endif
