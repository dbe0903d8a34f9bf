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
#include "thunkstash/pages.h"
#include "trace/image_manifest.h"

#define HIDDEN    __attribute__((visibility("hidden")))
#define ROUNDS    16
#define CALLS     250
#define FUNCTION  1
#define PAGE      4096
#define ROOT_UNIT 1
#define NODE_UNIT 2

extern void umbra_calibration_function(void) HIDDEN;
extern void umbra_calibration_body(void) HIDDEN;
extern void umbra_calibration_loop(uint64_t count, void (*function)(void)) HIDDEN;
extern const char umbra_calibration_site[] HIDDEN;
extern void umbra_record(void) HIDDEN;

struct image_header umbra_calibration_image HIDDEN = {.first_function = FUNCTION};

/* A page of trace, with a root and the one context below it, and a page of table that finds it. */
struct stand_in {
    struct thread thread;
    char *trace;
    uint32_t *table;
    struct trace_node *node;
};

static bool stand_in_make(struct stand_in *in)
{
    struct trace_node *root;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    uint64_t site = (uint64_t)umbra_calibration_site;

    in->trace = pages_take(2 * PAGE);
    if (!in->trace)
        return false;
    in->table = (uint32_t *)(in->trace + PAGE);
    root = (struct trace_node *)in->trace + ROOT_UNIT;
    root->context = ROOT_UNIT;
    in->node = (struct trace_node *)in->trace + NODE_UNIT;
    *in->node = (struct trace_node){
        .site = site, .parent = ROOT_UNIT, .function = FUNCTION, .context = NODE_UNIT};
    in->thread = (struct thread){
        .stack_low = here - (1 << 16),
        .stack_size = 1 << 17,
        .table = in->table,
        .table_mask = PAGE / sizeof *in->table - 1,
        .trace = in->trace,
        .begun = UINT32_MAX,
    };
    in->table[tree_hash(site, ROOT_UNIT, FUNCTION) & in->thread.table_mask] = NODE_UNIT;
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

/* Ticks a call: all of it, and of that what falls inside. */
static void measure(struct stand_in *in, uint64_t *whole, uint64_t *inside)
{
    uint64_t plain = UINT64_MAX, hooked = UINT64_MAX, within = UINT64_MAX;
    struct thread *before = thread_current();

    thread_set_current(&in->thread);
    for (int round = 0; round < ROUNDS; round++) {
        in->node->ticks = 0;
        hooked = least(hooked, ticks_of_loop(umbra_calibration_function));
        within = least(within, in->node->ticks);
        plain = least(plain, ticks_of_loop(umbra_calibration_body));
    }
    thread_set_current(before);
    *whole = hooked > plain ? (hooked - plain) / CALLS : 0;
    *inside = least(within / CALLS, *whole);
}

void calibrate(void)
{
    struct stand_in in;
    struct guard guard;
    uint64_t whole, inside;

    if (session.state != SESSION_RUNNING)
        return;
    guard = guard_take();
    umbra_calibration_image.entry_hook = (uint64_t)umbra_record;
    if (stand_in_make(&in)) {
        measure(&in, &whole, &inside);
        session.probe_ticks = whole;
        session.header->probe_inner_ticks = (uint32_t)inside;
        session.header->probe_outer_ticks = (uint32_t)(whole - inside);
        stash_release(&in.thread.own);
        pages_give_back(in.trace, 2 * PAGE);
    }
    guard_release(guard);
}
