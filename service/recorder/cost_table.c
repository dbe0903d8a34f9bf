#include "service/recorder/cost_table.h"

#include <stddef.h>

#define MOST_TICKS (1u << 16) /* of one call: 25 us */

struct costs costs_read(const struct trace_header *header)
{
    struct costs costs = {0};

    costs.of[COST_TIMED] = __atomic_load_n(&header->probe_timed, __ATOMIC_ACQUIRE);
    if (!costs.of[COST_TIMED])
        return costs;
    costs.of[COST_INNER] = header->probe_inner;
    costs.of[COST_UNTIMED] = header->probe_untimed;
    costs.of[COST_PASSED] = header->probe_passed;
    return costs;
}

void costs_write(const struct costs *costs, struct trace_header *header)
{
    header->probe_inner = costs->of[COST_INNER];
    header->probe_timed = costs->of[COST_TIMED];
    header->probe_untimed = costs->of[COST_UNTIMED];
    header->probe_passed = costs->of[COST_PASSED];
}

static const struct agent_costs *find(const struct cost_table *table, uint64_t agent)
{
    for (size_t i = 0; agent && i < COST_TABLE_AGENTS; i++) {
        if (table->agents[i].agent == agent)
            return &table->agents[i];
    }
    return NULL;
}

static int64_t newest_ms(const struct agent_costs *agent)
{
    return agent->count ? agent->at_ms[(agent->count - 1) % COST_TABLE_LAST] : INT64_MIN;
}

bool cost_table_is_fresh(const struct cost_table *table, uint64_t agent, int64_t now_ms)
{
    const struct agent_costs *known = find(table, agent);

    if (!known || known->count < COST_TABLE_LAST)
        return false;
    for (size_t i = 0; i < COST_TABLE_LAST; i++) {
        if (now_ms - known->at_ms[i] >= COST_TABLE_KEPT_MS)
            return false;
    }
    return now_ms - newest_ms(known) < COST_TABLE_FRESH_MS;
}

/* The lower one of the middle two of an even number. */
static uint32_t median(uint32_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
            uint32_t value = values[j];

            values[j] = values[j - 1];
            values[j - 1] = value;
        }
    }
    return values[(count - 1) / 2];
}

bool cost_table_find(const struct cost_table *table, uint64_t agent, int64_t now_ms,
                     struct costs *costs)
{
    const struct agent_costs *known = find(table, agent);
    uint32_t values[COST_KINDS][COST_TABLE_LAST];
    size_t count = 0;

    for (size_t i = 0; known && i < COST_TABLE_LAST && i < known->count; i++) {
        if (now_ms - known->at_ms[i] >= COST_TABLE_KEPT_MS)
            continue;
        for (int kind = 0; kind < COST_KINDS; kind++)
            values[kind][count] = known->last[i].of[kind];
        count++;
    }
    for (int kind = 0; count && kind < COST_KINDS; kind++)
        costs->of[kind] = median(values[kind], count);
    return count > 0;
}

static struct agent_costs *find_or_make(struct cost_table *table, uint64_t agent)
{
    struct agent_costs *place = (struct agent_costs *)find(table, agent);

    if (place)
        return place;
    place = &table->agents[0];
    for (size_t i = 1; i < COST_TABLE_AGENTS; i++) {
        if (newest_ms(&table->agents[i]) < newest_ms(place))
            place = &table->agents[i];
    }
    *place = (struct agent_costs){.agent = agent};
    return place;
}

/* A program wrote them. */
static bool can_be(const struct costs *costs)
{
    if (!costs->of[COST_TIMED])
        return false;
    for (int kind = 0; kind < COST_KINDS; kind++) {
        if (costs->of[kind] >> TRACE_COST_SHIFT >= MOST_TICKS)
            return false;
    }
    return true;
}

void cost_table_add(struct cost_table *table, uint64_t agent, int64_t now_ms,
                    const struct costs *costs)
{
    struct agent_costs *known;

    if (!agent || !can_be(costs))
        return;
    known = find_or_make(table, agent);
    known->last[known->count % COST_TABLE_LAST] = *costs;
    known->at_ms[known->count % COST_TABLE_LAST] = now_ms;
    known->count++;
}
