/*
 * What a recorded call costs, measured in the process and on the processor where it is paid: a
 * function that calls itself, so that contexts, records and thunks change from call to call as they
 * do in a program, runs through its hooks and without them. The thread's state and the trace are
 * stand-ins that are thrown away, so nothing of it is recorded.
 *
 *      timed, untimed, passed    ticks with hooks, less those without, a call
 *      inner                     what the figures show of an innermost call, less what it takes
 *
 * The median of the rounds is taken: the least would be that of a machine with nothing else to do.
 * It is done at the beginning and at the end, and the trace gets the mean.
 */
#include "hooks/calibrate.h"

#include "hooks/guard.h"
#include "hooks/probes.h"
#include "hooks/session.h"
#include "hooks/tree.h"
#include "thunkstash/pages.h"
#include "trace/image_manifest.h"

#define HIDDEN     __attribute__((visibility("hidden")))
#define ROUNDS     31
#define WARM_UP    4
#define DEPTH      7  /* fib(7) */
#define CALLS      41 /* that many of it; a context each */
#define REPEAT     8  /* a round */
#define FUNCTION   1
#define NEVER      0x7fffffff
#define PAGE       4096
#define ROOT_UNIT  1
#define FIRST_UNIT 2
#define PLACES     1024 /* in a page of table */

extern void umbra_calibration_hooked(uint64_t n) HIDDEN;
extern void umbra_calibration_plain(uint64_t n) HIDDEN;
extern void umbra_calibration_call(void (*function)(uint64_t), uint64_t n) HIDDEN;
extern const char umbra_calibration_first[] HIDDEN;
extern const char umbra_calibration_second[] HIDDEN;
extern const char umbra_calibration_outermost[] HIDDEN;
extern void umbra_record_exact(void) HIDDEN;
extern void umbra_record_adaptive(void) HIDDEN;
extern void umbra_exit_exact(void) HIDDEN;
extern void umbra_exit_adaptive(void) HIDDEN;

struct image_header umbra_calibration_image HIDDEN = {.first_function = FUNCTION};

enum kind { EXACT, ADAPTIVE, LEAF };

/* A page of trace, with a root and the contexts below it, and a page of table that finds them. */
struct stand_in {
    struct thread thread;
    char *trace;
    uint32_t *table;
    uint32_t function;
    uint32_t next; /* number of the first call to be timed */
    uint32_t used; /* nodes */
};

static struct trace_node *node_at(const struct stand_in *in, uint32_t unit)
{
    return (struct trace_node *)in->trace + unit;
}

static uint32_t add_node(struct stand_in *in, uint32_t parent, const char *site)
{
    uint32_t unit = FIRST_UNIT + in->used++;
    uint64_t place = tree_hash((uint64_t)site, parent, in->function) & (PLACES - 1);

    *node_at(in, unit) = (struct trace_node){.site = (uint64_t)site,
                                             .parent = parent,
                                             .function = in->function,
                                             .next = in->next,
                                             .gap = 1,
                                             .mask = TIMING_MASK,
                                             .context = unit};
    while (in->table[place])
        place = (place + 1) & (PLACES - 1);
    in->table[place] = unit;
    return unit;
}

/* The contexts of fib(n) called from site. */
static void add_nodes(struct stand_in *in, uint32_t parent, const char *site, int n)
{
    uint32_t unit = add_node(in, parent, site);

    if (n < 2)
        return;
    add_nodes(in, unit, umbra_calibration_first, n - 1);
    add_nodes(in, unit, umbra_calibration_second, n - 2);
}

/* A leaf that is never timed is nobody's caller. */
static void add_leaves(struct stand_in *in)
{
    add_node(in, ROOT_UNIT, umbra_calibration_outermost);
    add_node(in, ROOT_UNIT, umbra_calibration_first);
    add_node(in, ROOT_UNIT, umbra_calibration_second);
}

static bool stand_in_make(struct stand_in *in, enum kind kind)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0);

    *in = (struct stand_in){.function = FUNCTION, .next = 1};
    if (kind == LEAF) {
        in->function |= TRACE_FUNCTION_LEAF;
        in->next = NEVER;
    }
    in->trace = pages_take(2 * PAGE);
    if (!in->trace)
        return false;
    in->table = (uint32_t *)(in->trace + PAGE);
    ((struct trace_header *)in->trace)->tick = TRACE_TICK_FLAG;
    node_at(in, ROOT_UNIT)->context = ROOT_UNIT;
    if (kind == LEAF)
        add_leaves(in);
    else
        add_nodes(in, ROOT_UNIT, umbra_calibration_outermost, DEPTH);
    in->thread = (struct thread){
        .stack_low = here - (1 << 16),
        .stack_size = 1 << 17,
        .table = in->table,
        .table_mask = (PLACES - 1) * sizeof *in->table,
        .trace = in->trace,
        .begun = UINT32_MAX,
    };
    umbra_calibration_image.first_function = in->function;
    umbra_calibration_image.entry_hook =
        (uint64_t)(kind == EXACT ? umbra_record_exact : umbra_record_adaptive);
    stash_set_exit_hook(kind == EXACT ? umbra_exit_exact : umbra_exit_adaptive);
    if (!stash_begin(&in->thread.own, true, session.number, node_at(in, ROOT_UNIT))) {
        pages_give_back(in->trace, 2 * PAGE);
        return false;
    }
    in->thread.top = in->thread.own.top;
    return true;
}

static uint32_t ticks_a_call(void (*function)(uint64_t))
{
    uint64_t begin = ticks_now(), ticks;

    for (int i = 0; i < REPEAT; i++)
        umbra_calibration_call(function, DEPTH);
    ticks = ticks_now() - begin;
    return (uint32_t)((ticks << TRACE_COST_SHIFT) / (CALLS * REPEAT));
}

/* Sorts; there are few. */
static uint32_t median(uint32_t values[ROUNDS])
{
    for (int i = 1; i < ROUNDS; i++)
        for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
            uint32_t value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;
        }
    return values[ROUNDS / 2];
}

static uint32_t difference(uint32_t more, uint32_t less)
{
    return more > less ? more - less : 0;
}

/* What innermost calls took, as their nodes have it, a call; and starts them anew. */
static uint32_t innermost(struct stand_in *in, enum kind kind)
{
    uint64_t ticks = 0, calls = 0;

    for (uint32_t unit = FIRST_UNIT; unit < FIRST_UNIT + in->used; unit++) {
        struct trace_node *node = node_at(in, unit);
        bool is_innermost = unit + 1 == FIRST_UNIT + in->used || node[1].parent != unit;

        if (is_innermost && node->calls) {
            ticks += node->ticks;
            calls += kind == EXACT ? node->calls : node->next - node->gap;
        }
        node->calls = node->exits = node->passed = node->ticks = 0;
        node->next = in->next;
        node->gap = 1;
    }
    return calls ? (uint32_t)((ticks << TRACE_COST_SHIFT) / calls) : 0;
}

/* What a call costs: all of it, and of a timed one what falls inside. */
static void measure(enum kind kind, uint32_t *whole, uint32_t *inside)
{
    uint32_t plain[ROUNDS], hooked[ROUNDS], within[ROUNDS];
    struct thread *before = thread_current();
    static struct stand_in in; /* too large for a stack that is the host's */

    *whole = *inside = 0;
    if (!stand_in_make(&in, kind))
        return;
    thread_set_current(&in.thread);
    for (int round = -WARM_UP; round < ROUNDS; round++) {
        int at = round < 0 ? 0 : round;

        hooked[at] = ticks_a_call(umbra_calibration_hooked);
        within[at] = innermost(&in, kind);
        plain[at] = ticks_a_call(umbra_calibration_plain);
    }
    thread_set_current(before);
    *inside = difference(median(within), median(plain));
    *whole = difference(median(hooked), median(plain));
    stash_release(&in.thread.own);
    pages_give_back(in.trace, 2 * PAGE);
}

/* Under the guard. */
static void measure_all(struct probe_costs *costs)
{
    uint32_t ignored;

    measure(EXACT, &costs->timed, &costs->inner);
    costs->untimed = costs->passed = costs->timed;
    if (session.is_adaptive) {
        measure(LEAF, &costs->passed, &ignored);
        measure(ADAPTIVE, &costs->untimed, &ignored);
    }
    session_choose_exit_hook();
}

void calibrate(void)
{
    struct probe_costs costs;
    struct guard guard;

    if (session.state != SESSION_RUNNING)
        return;
    guard = guard_take();
    measure_all(&costs);
    session_set_costs(&costs);
    guard_release(guard);
}

static uint32_t mean(uint32_t a, uint32_t b)
{
    return a / 2 + b / 2;
}

void calibrate_again(void)
{
    struct probe_costs now, before = session.costs;

    measure_all(&now);
    now.inner = mean(now.inner, before.inner);
    now.timed = mean(now.timed, before.timed);
    now.untimed = mean(now.untimed, before.untimed);
    now.passed = mean(now.passed, before.passed);
    session_set_costs(&now);
}
