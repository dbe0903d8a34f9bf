#include "grinder/profile/baseline_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

/* Which one of those with that code it is, from 1 on. */
static uint32_t twin(struct baseline_rows *rows, uint64_t code)
{
    size_t before = rows->codes.count;
    uint32_t number = pair_index_add(&rows->codes, code, 0);

    if (number == before) {
        rows->twins = memory_grow(rows->twins, number, &rows->twins_room, sizeof(*rows->twins));
        rows->twins[number] = 0;
    }
    return ++rows->twins[number];
}

static char *spell_code(struct baseline_rows *rows, uint64_t code)
{
    uint32_t number = twin(rows, code);

    return number == 1 ? memory_print("%016" PRIx64, code)
                       : memory_print("%016" PRIx64 "#%" PRIu32, code, number);
}

void baseline_rows_add(struct baseline_rows *rows, const char *name, uint64_t code)
{
    rows->spellings =
        memory_grow(rows->spellings, rows->count, &rows->room, sizeof(*rows->spellings));
    rows->spellings[rows->count++] = name ? memory_copy_utf8(name) : spell_code(rows, code);
}

void baseline_rows_free(struct baseline_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->spellings[i]);
    free(rows->spellings);
    free(rows->twins);
    free(rows->order);
    pair_index_free(&rows->codes);
    *rows = (struct baseline_rows){0};
}

static int compare_rows(const void *left, const void *right, void *user)
{
    char *const *spellings = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(spellings[a], spellings[b]);

    return order ? order : (a > b) - (a < b);
}

bool baseline_rows_find(struct baseline_rows *rows, const char *spelling, uint32_t *row)
{
    size_t first = 0, end = rows->count;

    if (!rows->order) {
        rows->order = memory_zeroed(rows->count, sizeof(*rows->order));
        for (uint32_t i = 0; i < rows->count; i++)
            rows->order[i] = i;
        qsort_r(rows->order, rows->count, sizeof(*rows->order), compare_rows, rows->spellings);
    }
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (strcmp(rows->spellings[rows->order[middle]], spelling) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == rows->count || strcmp(rows->spellings[rows->order[first]], spelling) != 0)
        return false;
    *row = rows->order[first];
    return true;
}
