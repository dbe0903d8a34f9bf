/*
 * The calling-context tree of one trace, in memory.
 *
 * Contexts lie in one flat array, in the order of the file; slot 0 is "none". What is below a
 * root or a representative (trace_format.h, folding) hangs together by first_child and sibling:
 *
 *      threads[i].root ──> root ──first_child──> main ──first_child──> parse
 *                                                                         │ sibling
 *                                                                       print ...
 *      folds[j].slot ────> representative of g ──first_child──> what g calls past the limit
 *
 * A context is in the tree only if its whole chain of parents is there and ends in a root or a
 * representative. Parents that are missing, that belong nowhere or that form a circle therefore
 * never become part of it: such contexts are not visited by tree_walk and count as lost.
 */
#ifndef UMBRA_GRINDER_TREE_H
#define UMBRA_GRINDER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/profile/images.h"
#include "trace/trace_reader.h"

/* A bit of a context's site: it was not recorded, but put there for code made at run time that
   called the contexts below it (jit_callers.h). */
#define CONTEXT_JIT (1ull << 61)
/* The same for a call that was under way when the program was attached to (under_way.h). */
#define CONTEXT_UNDER_WAY (1ull << 59)
#define CONTEXT_ADDED     (CONTEXT_JIT | CONTEXT_UNDER_WAY)

/* The figures are those of trace_node, but that passed calls are among calls and exits, and ticks
   stand for all calls that ended; links are slots. */
struct context {
    uint64_t site; /* with TRACE_SITE_ bits */
    uint64_t calls;
    uint64_t exits;
    uint64_t passed;
    uint64_t timed;
    uint64_t instructions; /* of its function itself, modulo 2^64 */
    double ticks;
    uint32_t parent; /* as recorded: it may be part of the one above by now (copied_sites.h) */
    uint32_t first_child;
    uint32_t sibling;
    uint32_t function; /* as images.h numbers it; 0 for a root */
    uint32_t module;   /* the function's place in tree.modules; 0 for a root */
    uint32_t fold;     /* place in tree.folds of a folded context or a representative; 0 if none */
    uint32_t wait;     /* place in tree.waits; 0: it has not waited */
};

/* A representative: its ticks are left to the walk. */
struct fold {
    uint32_t slot;
    uint32_t next;          /* fold of the same thread; 0 ends the list */
    double folded_ticks;    /* of the contexts folded into it, their own callees taken out */
    double children_ticks;  /* of the contexts below it */
    double measuring_ticks; /* what was taken out of the first, and is part of the second */
    double events;          /* calls of the first, and calls to the second and from the first */
    double tail_ticks; /* of what its functions jumped to: their callers' */
    uint64_t calls;    /* of the contexts folded into it that were not jumped to themselves */
    uint64_t instructions; /* its own, and those of all below it */
};

/* A thread's samples: samples.h fills it in. */
struct function_samples {
    uint32_t function; /* as images.h numbers it */
    uint64_t count;
};

/* All zero: there are none. */
struct thread_samples {
    struct function_samples *functions; /* ascending */
    size_t count;
    uint64_t in_functions, in_hooks, elsewhere;
    double period_ns; /* time that one in a function stands for */
    uint64_t cpu_ns;  /* processor time that all of them stand for */
};

struct tree_thread {
    struct trace_thread record;
    uint32_t root;       /* slot; 0 if the root is missing */
    uint32_t first_fold; /* 0 if none */
    uint64_t entries;    /* of all its nodes, lost ones included */
    uint64_t exits;
    uint64_t timed;    /* calls; with TRACE_TIMING_SAMPLES: samples */
    uint64_t contexts; /* committed nodes, root and representatives included */
    struct thread_samples samples;
};

struct tree_module {
    char *path;
    uint64_t base;
    uint64_t size;
    uint32_t first_function;
    uint32_t function_count;
    uint32_t image; /* as images.h numbers it; 0 if not instrumented */
    uint32_t rva;   /* of the base: 0, but for code made at run time */
    bool counts_instructions;
};

/* Calls of a context that were made from a place of its caller's. */
struct tree_site {
    uint32_t slot;
    uint64_t site; /* return address, without TRACE_SITE_ bits */
    uint64_t calls;
    double ticks; /* as a context has them; 0 of all places: it is not known how they share */
};

/* How long calls of a function took in a thread: of one context, or of several. */
struct tree_times {
    uint32_t thread;   /* ordinal */
    uint32_t function; /* as images.h numbers it */
    struct trace_times record;
};

/* A sample of a thread. */
struct tree_hit {
    uint64_t ticks;       /* when */
    uint64_t instruction; /* address; of one in a copy what it stands for (copied_sites.h), 0: not known */
    uint64_t ns;          /* processor time that it stands for */
    uint32_t slot;        /* context */
    uint32_t thread;      /* ordinal */
};

/* Consecutive nodes of the file that went to consecutive slots. */
struct tree_run {
    uint32_t first_unit;
    uint32_t first_slot;
    uint32_t count;
    uint32_t thread; /* ordinal */
};

/* What is known of a trace that was made from whole stacks. */
struct stack_facts {
    uint64_t whole; /* samples with all callers, up to where the thread began */
    uint64_t lost;
    bool user_only; /* time in the kernel was not sampled */
};

/* Hooks that were taken out for what they cost: all zero if none were. */
struct unhooked_facts {
    uint64_t times; /* that one was taken out */
    uint32_t functions;
    double percent; /* what hooks were allowed to cost; 0: anything */
    bool by_user;   /* one at least */
};

struct tree {
    const char *path;
    struct trace_header header;
    uint64_t missing_bytes;
    struct context *contexts; /* [0] is none */
    size_t context_count;     /* [0] and nodes not committed included */
    uint64_t committed;
    struct tree_thread *threads; /* ascending by ordinal */
    size_t thread_count;
    struct tree_module *modules; /* [0] is none; ascending by first_function; behind these, code
                                    made at run time, which belongs to no file */
    size_t module_count;         /* [0] included */
    struct fold *folds;          /* [0] is none */
    size_t fold_count;           /* [0] included */
    struct tree_site *sites;     /* of contexts with TRACE_SITE_SHARED: ascending by slot */
    size_t site_count;
    struct trace_wait *waits;    /* [0] is none: nothing */
    size_t wait_count;           /* [0] included */
    struct tree_times *times;
    size_t times_count;
    struct tree_hit *hits;       /* ascending by thread, and by time within it */
    size_t hit_count, hit_room;
    struct tree_run *runs;       /* [0] is none; ascending */
    size_t run_count;            /* [0] included */
    struct stack_facts stacks;
    struct unhooked_facts unhooked;
    bool counts_instructions;    /* of functions of some module */
};

/* Reads the trace, whose path is borrowed, and numbers its functions in images, without what lies
   beside it: tree_load.h has that too. False: there is nothing to free. */
bool tree_read(struct tree *tree, const struct trace_file *file, struct images *images,
              struct failure *failure);

/* The module with the function of that number in the trace: its place, 0 if there is none. Until code made at run time
   stands behind them. */
uint32_t tree_module_of(const struct tree *tree, uint32_t function);

/* Where the call to context was made: image << 32 | rva of the call's last byte, if that lies in
   the module of the calling function; else 0. */
uint64_t tree_call_site(const struct tree *tree, const struct context *context);

/* Where one call to context was made, whose return address is `site`: image << 32 | rva of the
   call's last byte, if that lies in the module of the calling function; else 0. */
uint64_t tree_site_in_caller(const struct tree *tree, const struct context *context,
                             uint64_t site);

/* Where an instruction of the context's function is: image << 32 | rva, or 0 if it is not in its module. */
uint64_t tree_spot(const struct tree *tree, const struct context *context, uint64_t instruction);

/* Adds a sample. tree_sort_hits brings them into their order. */
void tree_add_hit(struct tree *tree, const struct tree_hit *hit);
void tree_sort_hits(struct tree *tree);

/* The first of *count samples of a thread, by its ordinal. */
const struct tree_hit *tree_hits_of(const struct tree *tree, uint32_t thread, size_t *count);

/* The context at a slot has waited so, too, as the wait of that number says; 0 of either is none. */
void tree_add_wait(struct tree *tree, uint32_t slot, uint32_t number);

/* Adds the figures of `part`, a context of the same calls, to those of `sum`. */
static inline void context_add_figures(struct context *sum, const struct context *part)
{
    sum->calls += part->calls;
    sum->exits += part->exits;
    sum->passed += part->passed;
    sum->timed += part->timed;
    sum->instructions += part->instructions;
    sum->ticks += part->ticks;
}

/* Brings places into the order of their slots, after some have changed. */
void tree_sort_sites(struct tree *tree);

/* The first of *count places that calls of the context came from. */
const struct tree_site *tree_sites_of(const struct tree *tree, const struct context *context,
                                      size_t *count);

/* What an event says by a node's index. */
struct tree_node {
    uint32_t function; /* as images.h numbers it; 0: no such node, or a root */
    uint32_t parent;   /* index; 0: none */
    uint32_t caller;   /* function of code made at run time that was in between; 0: none */
};

/* By node index, *count of them, to be freed. */
struct tree_node *tree_nodes(const struct tree *tree, size_t *count);

void tree_free(struct tree *tree);
void thread_samples_free(struct thread_samples *samples);

#endif
