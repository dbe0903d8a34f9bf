/*
 * What a recorded call costs, measured at start-up in the process and on the processor where it
 * is paid: an empty function is called through its hooks and without them. The thread's state and
 * the trace are stand-ins that are thrown away, so nothing of it is recorded.
 *
 *      cost inside    from the entry's rdtsc to the exit's: what the figures show of an empty call
 *      cost outside   the rest: what its caller's figures show in addition
 *
 * The least of a few rounds is taken. A real program, with colder caches, pays somewhat more.
 */
#include "hooks/calibrate.h"

#include "hooks/guard.h"
#include "hooks/probes.h"
#include "hooks/session.h"
#include "hooks/tree.h"
#include "thunkstash/linux/pages.h"
#include "trace/image_manifest.h"

#define HIDDEN    __attribute__((visibility("hidden")))
#define ROUNDS    16
#define CALLS     250
#define FUNCTION  1
#define PAGE      4096
#define ROOT_UNIT 1
#define NODE_UNIT 2
#define PLACES    1024 /* in a page of table */

extern void umbra_calibration_function(void) HIDDEN;
extern void umbra_calibration_body(void) HIDDEN;
extern void umbra_calibration_loop(uint64_t count, void (*function)(void)) HIDDEN;
extern const char umbra_calibration_site[] HIDDEN;
extern void umbra_record_exact(void) HIDDEN;
extern void umbra_record_adaptive(void) HIDDEN;
extern void umbra_exit_exact(void) HIDDEN;
extern void umbra_exit_adaptive(void) HIDDEN;

struct image_header umbra_calibration_image HIDDEN = {.first_function = FUNCTION};

enum kind { EXACT, ADAPTIVE, LEAF };

/* A page of trace, with a root and the one context below it, and a page of table that finds it. */
struct stand_in {
    struct thread thread;
    char *trace;
    uint32_t *table;
    struct trace_node *node;
};

static bool stand_in_make(struct stand_in *in, enum kind kind)
{
    struct trace_node *root;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    uint64_t site = (uint64_t)umbra_calibration_site;
    uint32_t function = FUNCTION | (kind == LEAF ? TRACE_FUNCTION_LEAF : 0);

    in->trace = pages_take(2 * PAGE);
    if (!in->trace)
        return false;
    in->table = (uint32_t *)(in->trace + PAGE);
    ((struct trace_header *)in->trace)->tick = TRACE_TICK_FLAG;
    root = (struct trace_node *)in->trace + ROOT_UNIT;
    root->context = ROOT_UNIT;
    in->node = (struct trace_node *)in->trace + NODE_UNIT;
    *in->node = (struct trace_node){.site = site,
                                    .parent = ROOT_UNIT,
                                    .function = function,
                                    .next = 1,
                                    .gap = 1,
                                    .mask = TIMING_MASK,
                                    .context = NODE_UNIT};
    in->thread = (struct thread){
        .stack_low = here - (1 << 16),
        .stack_size = 1 << 17,
        .table = in->table,
        .table_mask = (PLACES - 1) * sizeof *in->table,
        .trace = in->trace,
        .begun = UINT32_MAX,
    };
    in->table[tree_hash(site, ROOT_UNIT, function) & (PLACES - 1)] = NODE_UNIT;
    umbra_calibration_image.first_function = function;
    umbra_calibration_image.entry_hook =
        (uint64_t)(kind == EXACT ? umbra_record_exact : umbra_record_adaptive);
    stash_set_exit_hook(kind == EXACT ? umbra_exit_exact : umbra_exit_adaptive);
    if (!stash_begin(&in->thread.own, true, session.number, root)) {
        pages_give_back(in->trace, 2 * PAGE);
        return false;
    }
    in->thread.top = in->thread.own.top;
    return true;
}

static uint64_t ticks_of_loop(void (*function)(void))
{
    uint64_t begin = ticks_now();

    umbra_calibration_loop(CALLS, function);
    return ticks_now() - begin;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t a_call(uint64_t ticks, uint64_t calls)
{
    return calls ? (uint32_t)((ticks << TRACE_COST_SHIFT) / calls) : 0;
}

/* What a call costs: all of it, and of a timed one what falls inside. */
static void measure(enum kind kind, uint32_t *whole, uint32_t *inside)
{
    uint64_t plain = UINT64_MAX, hooked = UINT64_MAX, within = UINT64_MAX;
    struct thread *before = umbra_thread;
    struct stand_in in;

    *whole = *inside = 0;
    if (!stand_in_make(&in, kind))
        return;
    umbra_thread = &in.thread;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t represented = in.node->next - in.node->gap;

        in.node->ticks = 0;
        hooked = least(hooked, ticks_of_loop(umbra_calibration_function));
        represented = kind == EXACT ? CALLS : in.node->next - in.node->gap - represented;
        within = least(within, a_call(in.node->ticks, represented));
        plain = least(plain, ticks_of_loop(umbra_calibration_body));
    }
    umbra_thread = before;
    *whole = hooked > plain ? a_call(hooked - plain, CALLS) : 0;
    *inside = (uint32_t)within;
    stash_release(&in.thread.own);
    pages_give_back(in.trace, 2 * PAGE);
}

void calibrate(void)
{
    struct probe_costs costs;
    struct guard guard;
    uint32_t inner;

    if (session.state != SESSION_RUNNING)
        return;
    guard = guard_take();
    measure(EXACT, &costs.timed, &costs.inner);
    costs.untimed = costs.timed;
    costs.passed = costs.timed;
    if (session.is_adaptive) {
        measure(LEAF, &costs.passed, &inner);
        measure(ADAPTIVE, &costs.untimed, &costs.inner);
    }
    stash_set_exit_hook(session.is_adaptive ? umbra_exit_adaptive : umbra_exit_exact);
    session_set_costs(&costs);
    guard_release(guard);
}
