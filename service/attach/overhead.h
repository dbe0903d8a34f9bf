/*
 * Which functions are hooked, so that hooks cost no more than a share of the program's processor time: the hottest
 * go, and come back later, to see whether they have cooled.
 *
 *      look       |    |                      |    |
 *      hooked     |----|                      |----|
 *      out             |-------- 10 s --------|    |-------- 20 s, 40, … 640 ----
 *
 * A function is told by its number in the trace. Nothing here knows of processes.
 */
#ifndef UMBRA_SERVICE_OVERHEAD_H
#define UMBRA_SERVICE_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct overhead_function {
    uint64_t calls; /* at the last look */
    uint64_t fresh; /* since the look before */
    int64_t back_ms; /* when it is hooked again; 0: it is hooked */
    uint32_t outs;   /* how often it was taken out */
};

struct overhead {
    double percent;   /* that hooks may cost of the time that the program takes beside them */
    double ns_a_call; /* what a hook costs: set before each look */
    struct overhead_function *functions; /* by number; room for `count` */
    size_t count;
    uint64_t processor_ns; /* at the last look */
};

/* What a look has found out: numbers of functions. */
struct overhead_changes {
    uint32_t *out, *in; /* overhead_changes_free frees them */
    size_t out_count, in_count;
    double percent; /* what hooks have cost since the look before */
};

/* Nothing was called yet; processor_ns: as for overhead_look, by now. */
void overhead_begin(struct overhead *overhead, double percent, uint64_t processor_ns);
void overhead_free(struct overhead *overhead);

/*
 * calls: of each function by its number, count of them, since the recording began; processor_ns: of the process since
 * its start. The functions of changes->out are out from here on, those of `in` hooked. False: out of memory, and
 * nothing has changed.
 */
bool overhead_look(struct overhead *overhead, const uint64_t *calls, size_t count, uint64_t processor_ns,
                   int64_t now_ms, struct overhead_changes *changes);
void overhead_changes_free(struct overhead_changes *changes);

#endif
