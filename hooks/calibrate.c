/*
 * What a recorded call costs, measured in the process and on the processor where it is paid:
 * functions that call each other at random in many contexts (calibration.inc) run through their
 * hooks and without them. The thread's state and the trace are stand-ins that are thrown away, so
 * nothing of it is recorded.
 *
 *      timed, untimed, passed    ticks with hooks, less those without, a call
 *      inner                     what the figures show of an innermost call, less what it takes
 *
 * Calls are random and contexts many, since the processor predicts a loop better than a program.
 * The number of contexts was chosen by what programs pay, in ns a call, now and in an older
 * version:
 *
 *                              timed       untimed         timed    untimed
 *      Lua and sqlite pay      18 to 20    11 to 12        27       16
 *      101 contexts measure    20 to 36    13 to 18        25.6     16.1
 *      277                                                 28.3     21.1
 *      757                                                 32.6     22.8
 *
 * With adaptive timing, `inner` is measured on calls of which only some are timed, as in a program:
 * the processor does not predict which, and each stands for many others.
 *
 * The median of the rounds is taken; the minimum would be the cost on a machine with nothing else
 * to do.
 *
 * Calibration takes 0.5 to 4 ms, more than all else at a process's start. So it is skipped if the
 * service has sent the costs that other programs measured with the same agent
 * (service/recorder/cost_table.h). A process that has measured, or has run for long enough to pay
 * for it, measures once more at its end, and its trace gets the mean.
 */
#include "hooks/calibrate.h"

#include "hooks/frames.h"
#include "hooks/guard.h"
#include "hooks/session.h"
#include "hooks/slow_paths.h"
#include "hooks/tree.h"
#include "thunkstash/pages.h"
#include "trace/image_manifest.h"

#define HIDDEN           __attribute__((visibility("hidden")))
#define ROUNDS           21
#define WARM_UP          3
#define DEPTH            5  /* n */
#define CALLS            15 /* that many for it */
#define REPEAT           8  /* a round */
#define SAMPLED_REPEAT   16 /* a round, where one in 48 is timed */
#define FUNCTIONS        8
#define SITES            4 /* of each */
#define FUNCTION         1 /* number of the first */
#define NEVER            0x7fffffff
#define PAGE             4096
#define ROOT_UNIT        (PAGE / TRACE_UNIT)
#define FIRST_UNIT       (ROOT_UNIT + 1)
#define CONTEXTS         101 /* for that n */
#define PLACES           4096
#define TRACE_SIZE       (PAGE + (CONTEXTS + 1) * TRACE_UNIT / PAGE * PAGE + PAGE)
#define WORTH_IT_DIVISOR 4 /* of a second, that a process has run: 1% of that at most */
#define TABLE_SIZE       (PLACES * sizeof(struct table_entry))

extern void umbra_calibration_hooked(uint64_t n) HIDDEN;
extern void umbra_calibration_plain(uint64_t n) HIDDEN;
extern void umbra_calibration_call(void (*function)(uint64_t), uint64_t n) HIDDEN;
extern const int32_t umbra_calibration_sites[FUNCTIONS][SITES] HIDDEN;
extern const char umbra_calibration_outermost[] HIDDEN;
extern void umbra_record_exact(void) HIDDEN;
extern void umbra_record_adaptive(void) HIDDEN;
extern void umbra_exit_exact(void) HIDDEN;
extern void umbra_exit_adaptive(void) HIDDEN;

struct image_header umbra_calibration_image HIDDEN = {.first_function = FUNCTION};

/* What a stand-in measures: every call timed, none, leaves of which none is, one of some. */
enum kind { EXACT, UNTIMED, LEAF, SAMPLED };

/* Pages of trace, with a root and the contexts below it, and of table that finds them. */
struct stand_in {
    struct thread thread;
    char *trace;
    uint32_t function;
    uint32_t next;  /* number of the first call to be timed */
    uint8_t spread; /* a mask: of the contexts' first ones, and their gaps */
    uint32_t used;  /* nodes */
};

static struct trace_node *node_at(const struct stand_in *in, uint32_t unit)
{
    return (struct trace_node *)in->trace + unit;
}

static uint32_t add_node(struct stand_in *in, uint32_t parent, const char *site, uint32_t number)
{
    uint32_t unit = FIRST_UNIT + in->used++, function = in->function + number;

    *node_at(in, unit) = (struct trace_node){.site = (uintptr_t)site,
                                             .parent = parent,
                                             .function = function,
                                             .next = in->next + (in->spread & unit),
                                             .gap = 1,
                                             .mask = in->spread,
                                             .context = unit};
    tree_put(&in->thread, (struct table_entry){unit, tree_hash((uintptr_t)site, parent, function)});
    return unit;
}

static const char *site_of(uint32_t number, uint32_t site)
{
    return (const char *)umbra_calibration_sites + umbra_calibration_sites[number][site];
}

static uint32_t callee_at(uint32_t number, uint32_t site)
{
    return (2 * number + site % 2) % FUNCTIONS;
}

/* The contexts of a call with n from site. */
static void add_nodes(struct stand_in *in, uint32_t parent, const char *site, uint32_t number,
                      int n)
{
    uint32_t unit = add_node(in, parent, site, number);

    for (uint32_t at = 0; at < SITES && n >= 2; at++)
        add_nodes(in, unit, site_of(number, at), callee_at(number, at), n - 1 - (int)at / 2);
}

/* A leaf that is never timed is nobody's caller. */
static void add_leaves(struct stand_in *in)
{
    add_node(in, ROOT_UNIT, umbra_calibration_outermost, 0);
    for (uint32_t number = 0; number < FUNCTIONS; number++)
        for (uint32_t at = 0; at < SITES; at++)
            add_node(in, ROOT_UNIT, site_of(number, at), callee_at(number, at));
}

static bool stand_in_make(struct stand_in *in, enum kind kind)
{
    uint64_t here = (uintptr_t)__builtin_frame_address(0);

    *in = (struct stand_in){.function = FUNCTION, .next = NEVER};
    if (kind == SAMPLED) {
        in->next = 1;
        in->spread = TIMING_MASK;
    }
    if (kind == LEAF)
        in->function |= TRACE_FUNCTION_LEAF;
    in->trace = pages_take(TRACE_SIZE + TABLE_SIZE);
    if (!in->trace)
        return false;
    in->thread = (struct thread){
        .stack_low = here - (1 << 16),
        .stack_size = 1 << 17,
        .table = (struct table_entry *)(in->trace + TRACE_SIZE),
        .table_mask = (PLACES - 1) * sizeof(struct table_entry),
        .trace = in->trace,
        .begun = UINT32_MAX,
    };
    ((struct trace_header *)in->trace)->tick = TRACE_TICK_FLAG;
    node_at(in, ROOT_UNIT)->context = ROOT_UNIT;
    if (kind == LEAF)
        add_leaves(in);
    else
        add_nodes(in, ROOT_UNIT, umbra_calibration_outermost, 0, DEPTH);
    umbra_calibration_image.first_function = in->function;
    umbra_calibration_image.entry_hook =
        (uintptr_t)(kind == EXACT ? umbra_record_exact : umbra_record_adaptive);
    stash_set_exit_hook(kind == EXACT ? umbra_exit_exact : umbra_exit_adaptive);
    if (!stash_begin(&in->thread.own, true, session.number, node_at(in, ROOT_UNIT))) {
        pages_give_back(in->trace, TRACE_SIZE + TABLE_SIZE);
        return false;
    }
    in->thread.top = in->thread.own.top;
    return true;
}

/* Ticks a call of a function that is called so many times with n, all its calls together coming to
   `calls`. */
static uint32_t ticks_a_call(void (*function)(uint64_t), uint64_t n, int times, uint32_t calls)
{
    uint64_t begin = ticks_now(), ticks;

    for (int i = 0; i < times; i++)
        umbra_calibration_call(function, n);
    ticks = ticks_now() - begin;
    return (uint32_t)((ticks << TRACE_COST_SHIFT) / calls);
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

/* Call numbers go on where calls are sampled, so that each context's turn comes. */
static void node_start_anew(struct trace_node *node, enum kind kind)
{
    node->ticks = 0;
    node->timed = 0;
    node->gap = 1;
    node->mask = TIMING_MASK;
    if (kind != SAMPLED)
        node->calls = node->exits = node->passed = 0;
}

/* What innermost calls took, as their nodes have it, a call; and starts the nodes anew. Of sampled
   ones only the first counts, which stands for itself alone. */
static uint32_t innermost(struct stand_in *in, enum kind kind)
{
    uint64_t ticks = 0, calls = 0;

    for (uint32_t unit = FIRST_UNIT; unit < FIRST_UNIT + in->used; unit++) {
        struct trace_node *node = node_at(in, unit);
        bool is_innermost = unit + 1 == FIRST_UNIT + in->used || node[1].parent != unit;

        if (is_innermost && (kind == EXACT || node->timed == 1)) {
            ticks += node->ticks;
            calls += kind == EXACT ? node->calls : 1;
        }
        node_start_anew(node, kind);
    }
    return calls ? (uint32_t)((ticks << TRACE_COST_SHIFT) / calls) : 0;
}

/* What a call costs: all of it, and of a timed one what falls inside. */
static void measure(enum kind kind, uint32_t *whole, uint32_t *inside)
{
    uint32_t plain[ROUNDS], hooked[ROUNDS], within[ROUNDS], innermost_plain[ROUNDS];
    struct thread *before = thread_current();
    static struct stand_in in; /* too large for a stack that is the host's */
    int repeat = kind == SAMPLED ? SAMPLED_REPEAT : REPEAT;

    *whole = *inside = 0;
    if (!stand_in_make(&in, kind))
        return;
    thread_set_current(&in.thread);
    frames_begin(&in.thread);
    for (int round = -WARM_UP; round < ROUNDS; round++) {
        int at = round < 0 ? 0 : round;

        hooked[at] =
            ticks_a_call(umbra_calibration_hooked, DEPTH, repeat, (uint32_t)repeat * CALLS);
        within[at] = innermost(&in, kind);
        plain[at] = ticks_a_call(umbra_calibration_plain, DEPTH, REPEAT, REPEAT * CALLS);
        innermost_plain[at] =
            ticks_a_call(umbra_calibration_plain, 1, REPEAT * CALLS, REPEAT * CALLS);
    }
    thread_set_current(before);
    *inside = difference(median(within), median(innermost_plain));
    *whole = difference(median(hooked), median(plain));
    stash_release(&in.thread.own);
    pages_give_back(in.trace, TRACE_SIZE + TABLE_SIZE);
}

/* Under the guard. All 0 where there is no memory to measure in. */
static void measure_all(struct probe_costs *costs)
{
    uint32_t ignored;

    measure(EXACT, &costs->timed, &costs->inner);
    costs->untimed = costs->passed = costs->timed;
    if (session.is_adaptive) {
        measure(LEAF, &costs->passed, &ignored);
        measure(UNTIMED, &costs->untimed, &ignored);
        measure(SAMPLED, &ignored, &costs->inner);
    }
    session_choose_exit_hook();
}

static uint32_t measured; /* number of the session that has begun with a measurement; 0: none */

void calibrate(void)
{
    struct probe_costs costs;
    struct guard guard;

    if (session.state != SESSION_RUNNING || session.counts_only || session.costs.timed)
        return;
    guard = guard_take();
    measure_all(&costs);
    session_set_costs(&costs);
    measured = session.number;
    guard_release(guard);
}

static uint32_t mean(uint32_t a, uint32_t b)
{
    return a / 2 + b / 2;
}

/* Is it worth it? One that measures for others does it well: begin and end differ. Also where the
   costs are 0: the first measurement came to nothing. */
static bool is_worth_it(void)
{
    const struct trace_header *header = session.header;

    return measured == session.number || !header->probe_timed ||
           ticks_now() - header->start_ticks >= header->ticks_per_second / WORTH_IT_DIVISOR;
}

/* The thread that began to calibrate may have been terminated meanwhile (Windows): then there is
   nothing to take a mean with. */
void calibrate_again(void)
{
    struct probe_costs now, before = session.costs;

    if (session.counts_only || !is_worth_it())
        return;
    measure_all(&now);
    if (!before.timed)
        before = now;
    now.inner = mean(now.inner, before.inner);
    now.timed = mean(now.timed, before.timed);
    now.untimed = mean(now.untimed, before.untimed);
    now.passed = mean(now.passed, before.passed);
    session_set_costs(&now);
}
