/*
 * What the grinder makes of traces: processes with their threads and modules, and parts, which
 * are the figures by function and by call edge of one thread, or of all of them merged.
 *
 *      process ──< thread            what the trace says about each, for the summary
 *      part ──< function_cost        calls, self and total time of a function
 *           ──< edge_cost            of its calls from one call site in one caller
 *
 * Contexts are gone once their trace was added: memory is for distinct functions and edges, and,
 * if they are kept, distinct stacks (stacks.h).
 */
#ifndef UMBRA_GRINDER_PROFILE_H
#define UMBRA_GRINDER_PROFILE_H

#include <stdbool.h>

#include "grinder/base/pair_index.h"
#include "grinder/profile/call_times.h"
#include "grinder/profile/cost.h"
#include "grinder/profile/hits.h"
#include "grinder/profile/images.h"
#include "grinder/profile/peak.h"
#include "grinder/profile/sample_range.h"
#include "grinder/profile/selection.h"
#include "grinder/profile/stacks.h"
#include "grinder/profile/tree.h"

/* Sums of struct cost over contexts; the total ones over outermost contexts (cost.c). */
struct costs {
    uint64_t calls;
    uint64_t self_ns;
    uint64_t measuring_ns;
    uint64_t total_ns;
    uint64_t total_calls;
    uint64_t self_instructions, total_instructions;
    uint64_t samples, total_samples; /* of self_ns and total_ns: where these are made of samples */
    struct wait_cost wait;           /* with samples: self and total time that is not among those */
};

/* Costs by a pair of keys. */
struct cost_table {
    struct pair_index keys;
    struct costs *costs; /* by number in keys */
    size_t room;
};

/* The costs of a pair; zero if it is new. Valid until the next pair is added. */
struct costs *cost_table_at(struct cost_table *table, uint64_t a, uint64_t b);

struct part {
    size_t process;              /* place in profile.processes; of a merged part the first one */
    size_t thread;               /* place in its threads; meaningless in a merged part */
    struct cost_table functions; /* keys: function, 0 */
    struct cost_table edges;     /* keys: caller << 32 | callee, tree_call_site */
    struct call_times_list times; /* of functions whose calls were timed */
    struct stack_tree stacks;    /* empty unless profile.keeps_stacks or keeps_hits */
    struct hit_list hits;        /* empty unless profile.keeps_hits */
    uint64_t ns;                 /* sum of self_ns */
    uint64_t measuring_ns;
    uint64_t calls;
    uint64_t instructions;
    uint64_t samples;
    uint64_t wait_ns;
};

struct thread_facts {
    struct trace_thread record;
    uint64_t entries;
    uint64_t exits;
    uint64_t live;
    uint64_t timed;        /* calls; with TRACE_TIMING_SAMPLES: samples */
    uint64_t self_ns;      /* of all its contexts that were selected */
    uint64_t measuring_ns; /* what was taken out of these */
    uint64_t wait_ns;      /* of the same contexts */
    bool live_is_derived;  /* from the counting equation, as nobody counted */
    bool balanced;         /* entries = exits + unwound + live */
};

struct module_facts {
    char *path;
    uint32_t image; /* 0 if it is not instrumented */
    uint32_t first_function, function_count;
    uint64_t base;
};

/* Samples of all threads, selected or not. */
struct sample_facts {
    uint64_t in_functions, in_hooks, elsewhere;
    uint64_t cpu_ns; /* that they stand for */
};

struct process {
    struct stack_facts stacks;
    const char *trace_path; /* borrowed */
    struct trace_header header;
    struct thread_facts *threads;
    size_t thread_count;
    struct module_facts *modules;
    size_t module_count;
    struct sample_facts samples;
    struct unhooked_facts unhooked;
    uint64_t missing_bytes;
    uint64_t lost_contexts;  /* those whose callers are missing */
    struct tree_node *nodes; /* by index; null unless there are events, and keeps_nodes */
    size_t node_count;
    struct peak *peaks; /* by thread; null unless keeps_peaks */
};

/* Times of another recording, in place of one's own: borrowed_times.h. */
struct borrowed_times {
    const char *path;  /* of that recording, as it was given, borrowed */
    uint64_t samples;  /* taken in it */
    uint64_t outside;  /* of these, below no function that was counted */
    uint64_t uncounted; /* in functions that were not called here */
    uint32_t function;  /* the one of these with most, or 0 */
};

struct profile {
    bool merged;
    bool keeps_stacks;           /* but for processes whose nodes are kept */
    bool keeps_nodes;            /* of call-trace recordings */
    bool keeps_hits;             /* and stacks, of what takes samples */
    bool keeps_peaks;            /* profile_keep_peaks is to be called */
    struct selection *selection; /* borrowed; null: everything */
    struct process *processes;
    size_t process_count, process_room;
    struct part *parts;
    size_t part_count, part_room;
    /* Path of a trace that has times, and of one that has none; null: there is no such. Borrowed.
       */
    const char *timed, *untimed;
    /* Path of a trace whose times are of the processor, by samples, and of one whose times are of
       the clock, waiting included; or null. Borrowed. */
    const char *sampled, *clocked;
    /* Path of a trace that was made from whole stacks, and of one that was not; or null. Borrowed.
       */
    const char *stacked, *hooked;
    /* Path of a trace whose instructions are counted, and of one whose are not; or null. Borrowed. */
    const char *counted, *uncounted;
    bool takes_baselines;
    const char *listed; /* path of a baseline, or null: it has functions' own calls and instructions. Borrowed. */
    struct borrowed_times borrowed; /* all zero: its times are its own */
};

/* Whether the figures in ns are known. If not, calls alone are shown. */
static inline bool profile_has_times(const struct profile *profile)
{
    return !profile->untimed;
}

/* Whether they are times of the processor, by samples: what calls cost is not among them. */
static inline bool profile_is_sampled(const struct profile *profile)
{
    return profile->sampled && !profile->untimed && !profile->clocked;
}

/* Whether samples stand where calls do otherwise: nothing was instrumented. */
static inline bool profile_is_stacked(const struct profile *profile)
{
    return profile->stacked && !profile->hooked;
}

/* Whether instructions are counted: in some of its traces, or else nothing is said of them. */
static inline bool profile_has_instructions(const struct profile *profile)
{
    return profile->counted != NULL;
}

/* What is counted, in the plural. */
static inline const char *profile_counts(const struct profile *profile)
{
    return profile_is_stacked(profile) ? "samples" : "calls";
}

/* Whether calls of some functions are more than were counted: function.has_more_calls. */
static inline bool profile_has_more_calls(const struct profile *profile)
{
    for (size_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].unhooked.times)
            return true;
    return false;
}

/* How wide a time of the part is, where times are made of samples. */
static inline struct sample_range part_range(const struct part *part, uint64_t ns, uint64_t samples)
{
    return sample_range(ns, samples, part->ns, part->samples);
}

/* Adds a trace, or what is selected of its threads; its folds are used up. */
void profile_add(struct profile *profile, struct tree *tree, const struct images *images);

/* Adds a process of which figures of functions alone are known, without times, to a merged profile: the part that
   takes these is returned. path is borrowed. */
struct part *profile_add_listed(struct profile *profile, const char *path);

/* Keeps the peaks of the trace that was added last, while its tree is still there. */
void profile_keep_peaks(struct profile *profile, struct chains *chains, const struct tree *tree,
                        const struct images *images);

/* Whether there are time lines: the nodes of some process were kept. */
bool profile_has_events(const struct profile *profile);
void profile_free(struct profile *profile);

#endif
