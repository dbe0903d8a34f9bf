/* Lines whose fields are separated by tabs, as a service answers (trace/protocol.h). */
#ifndef UMBRA_SERVICE_TABLE_H
#define UMBRA_SERVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is an empty one. */
struct table {
    char **lines;
    size_t count, room;
};

/* Keeps a copy, in which control characters and what is no UTF-8 are '?'. Returns false, errno set,
 * without memory. */
bool table_add(struct table *table, const char *line);
void table_free(struct table *table);

/* Copies a field of a line, the first one being 0, cut to size; empty if there are not so many. */
void table_field(const char *line, unsigned number, char *field, size_t size);

/* Of lines `KEY<tab>VALUE`: the value, which is the table's; null if there is none of that key. */
const char *table_text(const struct table *table, const char *key);

/* The value as a number; 0 if there is none of that key. */
uint64_t table_number(const struct table *table, const char *key);

/*
 * To standard output: in columns for people, those whose first line's field is in `right` (by tabs
 * too) to the right; or as they are, for programs, a ' before what a spreadsheet would take for a
 * formula. Nothing of the table changes.
 */
void table_print(struct table *table, bool in_columns, const char *right);

#endif
