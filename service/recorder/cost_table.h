/*
 * What a recorded call costs, as programs have measured it, for the programs that begin later:
 *
 *      first 9 programs  header: 0      measures -----> | costs of that agent: the last 9 |
 *      others            header: costs  <-------------- | the median of each              |
 *      one in 10 s       header: 0      measures -----> |                                 |
 *      at its end, one that measured or ran for long -->|                                 |
 *
 * Measuring takes 0.5 to 4 ms (hooks/calibrate.c); all else at a program's start takes less than
 * one. A measurement holds for one agent, by the hash in its hello. The processor, its tick
 * counter's rate and the way of timing are the same for all programs of a service. What changes is
 * the machine's other work and the processor's frequency, and the processor itself if a virtual
 * machine moves to another host. So after 10 s the next program measures, and measurements older
 * than 5 minutes do not count. One measurement is as inaccurate as a process is short: what falls
 * inside of a timed call scatters by 10%, as two measurements in each of 200 runs of /bin/true had
 * it. That evened out over many processes as long as each measured; now the median of nine does it,
 * and keeps a disturbed one from spoiling all other traces.
 */
#ifndef UMBRA_SERVICE_COST_TABLE_H
#define UMBRA_SERVICE_COST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace_format.h"

#define COST_TABLE_FRESH_MS 10000
#define COST_TABLE_KEPT_MS  300000
#define COST_TABLE_LAST     9
#define COST_TABLE_AGENTS   8 /* the one that measured longest ago makes room */

/* The costs that trace_header has. */
enum cost_kind { COST_INNER, COST_TIMED, COST_UNTIMED, COST_PASSED, COST_KINDS };

struct costs {
    uint32_t of[COST_KINDS];
};

struct cost_table {
    struct agent_costs {
        uint64_t agent; /* 0: none */
        uint64_t count; /* measured in all: number n is in last[n % COST_TABLE_LAST] */
        int64_t at_ms[COST_TABLE_LAST];
        struct costs last[COST_TABLE_LAST];
    } agents[COST_TABLE_AGENTS];
};

/* All 0 while the agent has not measured. */
struct costs costs_read(const struct trace_header *header);
void costs_write(const struct costs *costs, struct trace_header *header);

/* What to give to a program; false: nothing is known, or nothing that is not too old. now_ms: of a
   clock that does not jump. */
bool cost_table_find(const struct cost_table *table, uint64_t agent, int64_t now_ms,
                     struct costs *costs);

/* Was it measured often enough, and lately? */
bool cost_table_is_fresh(const struct cost_table *table, uint64_t agent, int64_t now_ms);

/* What a program has measured. It is dropped if it cannot be, or if agent is 0. */
void cost_table_add(struct cost_table *table, uint64_t agent, int64_t now_ms,
                    const struct costs *costs);

#endif
