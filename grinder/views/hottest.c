#include "grinder/views/hottest.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

struct hottest hottest_of(const struct part *part)
{
    size_t count = part->functions.keys.count;
    struct hottest hottest = {memory_zeroed(count, sizeof(*hottest.functions)), count};

    for (size_t i = 0; i < count; i++)
        hottest.functions[i] =
            (struct hot){(uint32_t)part->functions.keys.pairs[i].a, part->functions.costs[i]};
    return hottest;
}

void hottest_free(struct hottest *hottest)
{
    free(hottest->functions);
    *hottest = (struct hottest){0};
}

static uint64_t key_of(const struct hot *hot, enum hot_order order)
{
    switch (order) {
    case HOT_SELF:
        return hot->costs.self_ns;
    case HOT_INCLUSIVE:
        return hot->costs.total_ns;
    case HOT_CALLS:
        return hot->costs.calls;
    case HOT_WAIT:
        return hot->costs.wait.self_ns;
    case HOT_INCLUSIVE_WAIT:
        return hot->costs.wait.total_ns;
    case HOT_INSTRUCTIONS:
        return hot->costs.self_instructions;
    case HOT_P99:
        break;
    }
    return 0;
}

static int compare(const void *left, const void *right, void *order)
{
    const struct hot *a = left, *b = right;
    uint64_t a_key = key_of(a, *(enum hot_order *)order);
    uint64_t b_key = key_of(b, *(enum hot_order *)order);

    if (a_key != b_key)
        return a_key > b_key ? -1 : 1;
    if (a->costs.calls != b->costs.calls)
        return a->costs.calls > b->costs.calls ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

void hottest_sort(const struct hottest *hottest, enum hot_order order)
{
    if (hottest->count)
        qsort_r(hottest->functions, hottest->count, sizeof(*hottest->functions), compare, &order);
}

bool hot_order_named(const char *name, enum hot_order *order)
{
    static const struct {
        const char *name;
        enum hot_order order;
    } orders[] = {
        {"self", HOT_SELF},   {"inclusive", HOT_INCLUSIVE},
        {"calls", HOT_CALLS}, {"wait", HOT_WAIT},
        {"p99", HOT_P99},     {"instructions", HOT_INSTRUCTIONS},
    };

    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        if (!strcmp(orders[i].name, name)) {
            *order = orders[i].order;
            return true;
        }
    }
    return false;
}
