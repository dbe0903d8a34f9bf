#include "support/narrowing.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

struct stretch {
    const uint64_t *things;
    size_t count;
};

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The things of both stretches, ascending; to be freed. */
static uint64_t *join(struct stretch a, struct stretch b)
{
    uint64_t *joined = memory_zeroed(a.count + b.count + 1, sizeof(*joined));

    if (a.count)
        memcpy(joined, a.things, a.count * sizeof(*joined));
    if (b.count)
        memcpy(joined + a.count, b.things, b.count * sizeof(*joined));
    qsort(joined, a.count + b.count, sizeof(*joined), by_number);
    return joined;
}

static bool fails_with_both(struct narrowing *narrowing, struct stretch a, struct stretch b)
{
    uint64_t *joined = join(a, b);
    bool fails = narrowing->fails(narrowing->owner, joined, a.count + b.count);

    free(joined);
    return fails;
}

static bool is_over(const struct narrowing *narrowing)
{
    return narrowing->is_over || (narrowing->most && narrowing->needed_count > narrowing->most);
}

static void add_needed(struct narrowing *narrowing, uint64_t thing)
{
    narrowing->needed = memory_grow(narrowing->needed, narrowing->needed_count, &narrowing->room,
                                    sizeof(*narrowing->needed));
    narrowing->needed[narrowing->needed_count++] = thing;
}

static void narrow_beside(struct narrowing *narrowing, struct stretch suspects,
                          struct stretch always);

/* It takes some of both halves. What was found of the first is all that the second needs of it. */
static void narrow_halves(struct narrowing *narrowing, struct stretch first, struct stretch second,
                          struct stretch always)
{
    size_t before = narrowing->needed_count;
    uint64_t *joined = join(second, always);

    narrow_beside(narrowing, first, (struct stretch){joined, second.count + always.count});
    free(joined);
    if (is_over(narrowing))
        return;
    const struct stretch found = {narrowing->needed + before, narrowing->needed_count - before};
    joined = join(found, always);
    narrow_beside(narrowing, second, (struct stretch){joined, found.count + always.count});
    free(joined);
}

/* It fails with `suspects` and `always`, and not with `always` alone. */
static void narrow_beside(struct narrowing *narrowing, struct stretch suspects,
                          struct stretch always)
{
    size_t half = suspects.count / 2;
    const struct stretch first = {suspects.things, half};
    const struct stretch second = {suspects.things + half, suspects.count - half};

    if (is_over(narrowing))
        return;
    if (suspects.count == 1)
        add_needed(narrowing, suspects.things[0]);
    if (suspects.count <= 1)
        return;
    if (fails_with_both(narrowing, first, always))
        narrow_beside(narrowing, first, always);
    else if (!narrowing->is_over && fails_with_both(narrowing, second, always))
        narrow_beside(narrowing, second, always);
    else
        narrow_halves(narrowing, first, second, always);
}

void narrow(struct narrowing *narrowing, const uint64_t *suspects, size_t count)
{
    narrow_beside(narrowing, (struct stretch){suspects, count}, (struct stretch){NULL, 0});
}
