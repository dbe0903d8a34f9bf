#include "service/attach/overhead.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_OUT_MS 10000
#define MOST_DOUBLES 6
#define LEAVE_PART   0.7 /* of what is allowed: what is left hooked may grow a little */

void overhead_begin(struct overhead *overhead, double percent, uint64_t processor_ns)
{
    *overhead = (struct overhead){.percent = percent, .processor_ns = processor_ns};
}

void overhead_free(struct overhead *overhead)
{
    free(overhead->functions);
    *overhead = (struct overhead){0};
}

void overhead_changes_free(struct overhead_changes *changes)
{
    free(changes->out);
    free(changes->in);
    *changes = (struct overhead_changes){0};
}

static bool make_room(struct overhead *overhead, size_t count)
{
    struct overhead_function *grown;

    if (count <= overhead->count)
        return true;
    grown = realloc(overhead->functions, count * sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + overhead->count, 0, (count - overhead->count) * sizeof(*grown));
    overhead->functions = grown;
    overhead->count = count;
    return true;
}

/* Calls since the look before, of all functions. */
static uint64_t count_fresh(struct overhead *overhead, const uint64_t *calls, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        struct overhead_function *function = &overhead->functions[i];

        function->fresh = calls[i] > function->calls ? calls[i] - function->calls : 0;
        function->calls = calls[i];
        sum += function->fresh;
    }
    return sum;
}

struct hot {
    uint64_t fresh;
    uint32_t number;
};

static int hottest_first(const void *left, const void *right)
{
    const struct hot *a = left, *b = right;

    if (a->fresh != b->fresh)
        return a->fresh > b->fresh ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Those that are hooked and were called, the hottest first; null: out of memory. */
static struct hot *sort_hot(const struct overhead *overhead, size_t *count)
{
    struct hot *hot = calloc(overhead->count + 1, sizeof(*hot));

    *count = 0;
    for (size_t i = 0; hot && i < overhead->count; i++)
        if (overhead->functions[i].fresh && !overhead->functions[i].back_ms)
            hot[(*count)++] = (struct hot){overhead->functions[i].fresh, (uint32_t)i};
    if (hot)
        qsort(hot, *count, sizeof(*hot), hottest_first);
    return hot;
}

static int64_t out_for(const struct overhead_function *function)
{
    unsigned doubles = function->outs < MOST_DOUBLES ? function->outs : MOST_DOUBLES;

    return (int64_t)FIRST_OUT_MS << doubles;
}

/* Until what is left costs what it may. */
static bool take_out(struct overhead *overhead, double cost, double allowed, int64_t now_ms,
                     struct overhead_changes *changes)
{
    size_t count;
    struct hot *hot = sort_hot(overhead, &count);

    changes->out = hot ? calloc(count + 1, sizeof(*changes->out)) : NULL;
    for (size_t i = 0; changes->out && i < count && cost > LEAVE_PART * allowed; i++) {
        struct overhead_function *function = &overhead->functions[hot[i].number];

        cost -= (double)hot[i].fresh * overhead->ns_a_call;
        function->back_ms = now_ms + out_for(function);
        function->outs++;
        changes->out[changes->out_count++] = hot[i].number;
    }
    free(hot);
    return changes->out != NULL;
}

static bool bring_back(struct overhead *overhead, int64_t now_ms, struct overhead_changes *changes)
{
    size_t count = 0;

    for (size_t i = 0; i < overhead->count; i++)
        count += overhead->functions[i].back_ms && overhead->functions[i].back_ms <= now_ms;
    if (!count)
        return true;
    changes->in = calloc(count, sizeof(*changes->in));
    for (size_t i = 0; changes->in && i < overhead->count; i++) {
        if (!overhead->functions[i].back_ms || overhead->functions[i].back_ms > now_ms)
            continue;
        overhead->functions[i].back_ms = 0;
        changes->in[changes->in_count++] = (uint32_t)i;
    }
    return changes->in != NULL;
}

/* Where hooks are taken to cost nearly all, since what one costs is an estimate. */
static double time_beside(double processor_ns, double cost)
{
    return processor_ns - cost > processor_ns / 100 ? processor_ns - cost : processor_ns / 100;
}

bool overhead_look(struct overhead *overhead, const uint64_t *calls, size_t count,
                   uint64_t processor_ns, int64_t now_ms, struct overhead_changes *changes)
{
    double cost, beside, allowed;

    *changes = (struct overhead_changes){0};
    if (!make_room(overhead, count))
        return false;
    cost = (double)count_fresh(overhead, calls, count) * overhead->ns_a_call;
    beside = time_beside((double)(processor_ns - overhead->processor_ns), cost);
    allowed = overhead->percent / 100 * beside;
    overhead->processor_ns = processor_ns;
    changes->percent = beside > 0 ? 100 * cost / beside : 0;
    return cost > allowed ? take_out(overhead, cost, allowed, now_ms, changes)
                          : bring_back(overhead, now_ms, changes);
}
