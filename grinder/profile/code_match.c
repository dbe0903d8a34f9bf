#include "grinder/profile/code_match.h"

#include <stdbool.h>
#include <stdlib.h>

#include "support/memory.h"

/* Functions of both lists by their code, those of the first in front, each in their order. */
struct coded {
    uint64_t code;
    uint32_t place;
    bool is_after;
};

/* Those of one code. */
struct group {
    const struct coded *before, *after;
    size_t before_count, after_count;
};

static void pair(struct code_list *before, struct code_list *after, uint32_t i, uint32_t j)
{
    before->partners[i] = j;
    after->partners[j] = i;
}

static bool is_free(const struct code_list *list, uint32_t place)
{
    return list->partners[place] == CODE_UNMATCHED;
}

static int compare_coded(const void *left, const void *right)
{
    const struct coded *a = left, *b = right;

    if (a->code != b->code)
        return a->code < b->code ? -1 : 1;
    if (a->is_after != b->is_after)
        return a->is_after ? 1 : -1;
    return (a->place > b->place) - (a->place < b->place);
}

static size_t gather(struct coded *coded, size_t count, const struct code_list *list, bool is_after)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->codes[i] && is_free(list, i))
            coded[count++] = (struct coded){list->codes[i], i, is_after};
    return count;
}

static struct coded *sorted(const struct code_list *before, const struct code_list *after,
                            size_t *count)
{
    struct coded *coded = memory_zeroed((size_t)before->count + after->count + 1, sizeof(*coded));

    *count = gather(coded, 0, before, false);
    *count = gather(coded, *count, after, true);
    qsort(coded, *count, sizeof(*coded), compare_coded);
    return coded;
}

/* The group that begins at *at, which goes behind it. */
static struct group next_group(const struct coded *coded, size_t count, size_t *at)
{
    struct group group = {.before = &coded[*at]};
    uint64_t code = coded[*at].code;

    for (; *at < count && coded[*at].code == code && !coded[*at].is_after; (*at)++)
        group.before_count++;
    group.after = &coded[*at];
    for (; *at < count && coded[*at].code == code; (*at)++)
        group.after_count++;
    return group;
}

static bool is_unique(const struct group *group)
{
    return group->before_count == 1 && group->after_count == 1;
}

static bool is_as_often(const struct group *group)
{
    return group->before_count == group->after_count;
}

static bool is_any(const struct group *group)
{
    (void)group;
    return true;
}

static void match_groups(struct code_list *before, struct code_list *after,
                         bool (*is_meant)(const struct group *group))
{
    size_t count;
    struct coded *coded = sorted(before, after, &count);

    for (size_t at = 0; at < count;) {
        struct group group = next_group(coded, count, &at);
        for (size_t i = 0; is_meant(&group) && i < group.before_count && i < group.after_count; i++)
            pair(before, after, group.before[i].place, group.after[i].place);
    }
    free(coded);
}

static void match_if_same(struct code_list *before, struct code_list *after, uint32_t i, uint32_t j)
{
    if (is_free(before, i) && is_free(after, j) && before->codes[i] &&
        before->codes[i] == after->codes[j])
        pair(before, after, i, j);
}

static void match_neighbours(struct code_list *before, struct code_list *after)
{
    for (uint32_t i = 0; i + 1 < before->count; i++)
        if (!is_free(before, i) && before->partners[i] + 1 < after->count)
            match_if_same(before, after, i + 1, before->partners[i] + 1);
    for (uint32_t i = before->count; i-- > 1;)
        if (!is_free(before, i) && before->partners[i] > 0)
            match_if_same(before, after, i - 1, before->partners[i] - 1);
}

/* What is left from `from` up to `to`, between functions that match or ends of the list. */
static void match_gap(struct code_list *before, struct code_list *after, uint32_t from, uint32_t to)
{
    uint32_t first = from ? before->partners[from - 1] + 1 : 0;
    uint32_t behind = to < before->count ? before->partners[to] : after->count;

    if (behind < first || behind - first != to - from)
        return;
    for (uint32_t i = first; i < behind; i++)
        if (!is_free(after, i))
            return;
    for (uint32_t i = from; i < to; i++)
        pair(before, after, i, first + i - from);
}

static void match_places(struct code_list *before, struct code_list *after)
{
    uint32_t from, to;

    for (from = 0; from < before->count; from = to + 1) {
        for (to = from; to < before->count && is_free(before, to); to++)
            ;
        if (to > from)
            match_gap(before, after, from, to);
    }
}

void code_match(struct code_list *before, struct code_list *after)
{
    match_groups(before, after, is_unique);
    match_neighbours(before, after);
    match_groups(before, after, is_as_often);
    match_places(before, after);
    match_groups(before, after, is_any);
}

size_t code_shared(const struct code_list *before, const struct code_list *after)
{
    size_t count, shared = 0;
    struct coded *coded = sorted(before, after, &count);

    for (size_t at = 0; at < count;) {
        struct group group = next_group(coded, count, &at);
        shared += group.before_count < group.after_count ? group.before_count : group.after_count;
    }
    free(coded);
    return shared;
}
