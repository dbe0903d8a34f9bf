/*
 * The trace: one for each process. It is memory that the agent records into and shares with the
 * service, so whatever was recorded before a crash or a kill is in it.
 *
 *      a native program      sealed memory without a name (service/traces/memory_file.h). The
 *                            service writes it to NAME.bin at the end; until then that file is the
 *                            keeper's last snapshot
 *      a Windows program     the file itself, mapped; the service cuts it at the end
 *
 * Memory and file have the same layout:
 *
 *      0  +-----------------------------+
 *         | struct trace_header         |  one page; the service fills in the upper half, the
 *         |                             |  agent the lower one
 *   4096  +-----------------------------+  <- TRACE_HEADER_SIZE
 *         | block 0  (4096 bytes)       |  first block of thread 1:
 *         |   unit 0  trace_block       |     what the block is
 *         |   unit 1  trace_thread      |     three units
 *         |   unit 4  trace_node (root) |     the root of the thread's calling-context tree
 *         |   unit 5  trace_node …      |
 *   8192  +-----------------------------+
 *         | block 1: more nodes, or     |
 *         |   modules, or thread 2,     |
 *         |   or how deep its stack was |
 *         +-----------------------------+
 *   used  | not yet handed out          |  memory goes on to capacity; a file ends here, or goes
 *         |                             |  on, sparse, if the service could not cut it
 *         +-----------------------------+
 *
 * A unit is 64 bytes, a cache line. A node is named by the number of its unit counted from the
 * start of the trace (its *index*): its place in the file is index * 64, and in the memory of the
 * recording process it is at the same distance from the mapping's start. Index 0, which would be
 * the header, means "none".
 *
 * A calling-context tree: a node stands for one chain of (call site, function) pairs from the
 * thread's root. All figures of a node are of that context alone:
 *
 *      entries of a thread  =  sum of calls and passed of its nodes
 *      exits   of a thread  =  sum of exits and passed of its nodes
 *                              (and in both, calls that links count: see struct trace_links)
 *      entries = exits + unwound + live          always
 *
 * Places. A function may call another from several places. The calls from each have a node of their
 * own, for their number and times; but what they call hangs below the first of these nodes, which the
 * others name as their `context`. Where no call is timed, copies have one node for all their places
 * (TRACE_SITE_SHARED), and links tell these (trace_site).
 *
 * Folding. When a thread holds node_limit nodes, or the trace takes a quarter of its capacity, new
 * contexts are kept by caller and callee only.
 * Each function g that has a part in one gets a *representative*: a node with parent 0, the flag
 * TRACE_SITE_FOLDED for its site, and no figures of its own. A new context (f, site, g) is a node
 * below f's representative, and its `context` is g's representative: what it calls hangs below
 * that, not below the node. So it is with the node of f that made the call: its `context` becomes
 * f's representative too, while its older callees stay below it. A root never folds.
 *
 * For all others `context` is the node's own index.
 *
 * So in a folded trace the callees of a function are spread over its nodes and its representative,
 * and only sums over all nodes of a function are exact: its self time is the ticks of all of them
 * less the ticks of all their children.
 *
 * Commit. A writer fills a node and stores `context` last; a reader passes over nodes whose
 * context is 0. Blocks commit with `kind`, modules with `size_units`, threads with `root`.
 *
 * All integers are little endian. Times are processor ticks (rdtsc); ticks_per_second converts.
 */
#ifndef UMBRA_TRACE_FORMAT_H
#define UMBRA_TRACE_FORMAT_H

#include <stdint.h>

#include "trace/time_buckets.h"

#define TRACE_MAGIC        "UMBRATRC"
#define TRACE_VERSION      14
#define TRACE_HEADER_SIZE  4096u
#define TRACE_BLOCK_SIZE   4096u
#define TRACE_UNIT         64u
#define TRACE_BLOCK_UNITS  (TRACE_BLOCK_SIZE / TRACE_UNIT)
#define TRACE_COMMAND_SIZE 2048
#define TRACE_EXE_SIZE     1024

/* What became of the recorded process, as far as the agent knows. */
enum trace_state {
    TRACE_PREPARED = 0, /* handed out by the service, the agent has not begun */
    TRACE_RUNNING = 1,  /* recording, or ended by _exit, a signal or a crash */
    TRACE_ENDED = 2,    /* the process ended through exit() or main's return */
};

/* What the service saw of the end; written when the process is gone. */
enum trace_end {
    TRACE_END_UNKNOWN = 0,  /* still running, or the service ended first */
    TRACE_END_GONE = 1,     /* the process is gone (see trace_state for how) */
    TRACE_END_EXEC = 2,     /* the process replaced itself by exec and began another trace */
    TRACE_END_SNAPSHOT = 3, /* this is a copy of a running process's trace, made at that time */
    TRACE_END_DETACHED = 4, /* the process runs on, and is not recorded any more */
};

/* What the kernel told the service of the end of a process that is gone. */
enum trace_end_how {
    TRACE_END_HOW_UNKNOWN = 0,
    TRACE_END_EXITED = 1, /* end_code is the exit status, 0 … 255 */
    TRACE_END_KILLED = 2, /* end_code is the number of the signal */
};

/* What the process ran on: says how module paths and thread numbers are to be read. */
enum trace_system {
    TRACE_SYSTEM_LINUX = 0,
    TRACE_SYSTEM_WINDOWS = 1, /* paths as Windows spells them, UTF-8; under Wine Z:\ is / */
};

/*
 * How calls are timed. Exact: each one, by two readings of the processor's clock. Adaptive: in a
 * context that is called often and is short, one call of `gap`, and its time counts gap times;
 * the gap is set anew at each timed call, at random around what the last duration suggests.
 *
 * What a call that is not timed takes is known to the `tick`, a clock in memory that the service
 * sets about once a millisecond: one that saw two ticks go by is added as it is. So a call that
 * suddenly takes long is never missed, whatever the gap.
 *
 * None: calls are counted and no clock is read. Nodes are as with adaptive timing, but for `gap`,
 * which is 0, and `next`, which lies ahead of all calls: `ticks` and `timed` are 0.
 *
 * Samples: as with none, but `ticks` are processor time that threads found themselves to have spent
 * in the context itself, without its callees, a period or several at a time; `timed` tells how often.
 */
enum trace_timing {
    TRACE_TIMING_EXACT = 0,
    TRACE_TIMING_ADAPTIVE = 1,
    TRACE_TIMING_NONE = 2,
    TRACE_TIMING_SAMPLES = 3,
};

#define TRACE_TICK_FLAG  (1ull << 63) /* set in every tick: tells it from a time */
#define TRACE_MOST_GAP   191
#define TRACE_WILLING_WORDS 16

#define TRACE_COST_SHIFT 8 /* probe costs are in 256ths of a tick of the processor's clock */

struct trace_header {
    /* Written by the service, before the agent sees the trace. */
    char magic[8];             /* TRACE_MAGIC, no terminating zero */
    uint32_t version;          /* TRACE_VERSION */
    uint32_t header_size;      /* TRACE_HEADER_SIZE */
    uint32_t block_size;       /* TRACE_BLOCK_SIZE */
    uint32_t node_limit;       /* nodes a thread may have before contexts fold */
    uint64_t capacity;         /* bytes the trace may grow to, a multiple of block_size; less by the
                                  agent where its address space is limited */
    uint64_t ticks_per_second; /* of rdtsc, measured by the service */
    uint32_t pid;
    uint32_t ppid;
    uint64_t created_ns;              /* CLOCK_REALTIME */
    uint32_t session;                 /* number of the trace within its service, from 1 */
    uint32_t end;                     /* enum trace_end, by the service */
    uint64_t end_seen_ticks;          /* rdtsc when the service saw the end; 0 if it did not */
    char exe[TRACE_EXE_SIZE];         /* zero-terminated, cut if longer */
    char command[TRACE_COMMAND_SIZE]; /* arguments joined by spaces, zero-terminated, cut */

    /* Written by the agent. */
    uint64_t used;         /* bytes handed out, header included: reader's end of file */
    uint32_t state;        /* enum trace_state */
    uint32_t thread_count; /* threads that began; ordinals run from 1 to this */
    uint64_t start_ticks;  /* rdtsc when recording began */
    uint64_t end_ticks;    /* rdtsc at exit(); 0 before */
    /* What a recorded call costs, shifted by TRACE_COST_SHIFT: grinder/profile/cost.c. The service
       may have filled it in, from what earlier programs measured; probe_timed 0: it has not, and
       the agent measures. That one is written last. */
    uint32_t probe_inner;   /* of a timed call: what falls inside the interval measured */
    uint32_t probe_timed;   /* of a timed call, all of it */
    uint32_t probe_untimed; /* of one that is not timed */
    uint32_t probe_passed;  /* of a leaf that is not timed */
    uint64_t skipped;       /* calls not recorded since their thread had no state yet */
    uint32_t fork_of_pid;   /* pid of the process this one was forked from while recording, */
                            /* 0 when it was started by exec */
    uint32_t system;        /* enum trace_system */
    uint32_t timing; /* enum trace_timing: asked for by the service; the agent says what it did */
    uint32_t sampling_hz; /* with TRACE_TIMING_SAMPLES: by the service. Periods a second */
    uint64_t
        thunks; /* where in the address space the thunks are: hooks' code, as a sample sees it */
    uint64_t thunks_size;

    /*
     * Written by the service at any time. The agent looks at `paused` and no other:
     *
     *      service    paused 0 ------> 1 ----------> 0        then `hook`; no answer is waited for
     *      agent      records        | passes calls | records
     *                                  through
     *
     * What was entered before a pause and ends in it, or after it, is recorded as ever.
     */
    uint32_t paused;         /* 1: calls that begin now are not recorded; 0: they are */
    uint32_t pauses;         /* times it became 1; 1 also for a trace that began so */
    uint32_t end_how;        /* enum trace_end_how */
    uint32_t end_code;       /* see there */
    uint64_t events_dropped; /* call-trace mode: events that are in no file and that no file counts,
                                since the disk was full to the end; written at the end */

    /* Written by the service about once a millisecond while the process runs, if timing is
       adaptive; a cache line of their own. rdtsc | TRACE_TICK_FLAG. */
    uint64_t tick_before __attribute__((aligned(64))); /* what `tick` was; written first */
    uint64_t tick;

    /*
     * What the functions of the process jump to when they are called, or 0: the hook word of all
     * its images (image_manifest.h), over which this page is mapped, so that a pause costs nothing.
     * A cache line that nobody writes while the process runs on. All stores are whole words.
     *
     *      agent      entry = its hook;  hook = paused ? 0 : entry;  again if paused has changed
     *      service    paused = 1;        hook = 0
     *                 paused = 0;        hook = entry
     *                                    where entry is 0, the agent has yet to look at `paused`
     *                 process gone:      hook = entry, for children that have yet to begin
     *
     * Of Windows programs both are 0, and their hooks look at `paused`.
     */
    uint64_t hook __attribute__((aligned(64)));
    uint64_t entry;

    /* Where the trace's first byte is in the process, from which addresses in links count
       (struct trace_link); 0: there are no links. Written before the first of them. */
    uint64_t base;
    /* What copied bodies go by (docs/copies.md): the agent's slow path, and where a thread has its
       words for them, from the thread pointer: 0 in a pause, and `words` else, in step with `hook` and
       `entry`. */
    uint64_t on_site, frames, words;
    /* Around system calls of copies: whether it is of interest how long they take, and where to go
       with those that took long (rewriter/copy/wait_code.h). */
    uint64_t waits, on_wait;
    uint32_t signals; /* enum trace_signals: atomic, both write it */
    uint32_t reserved_for_signals;
    /* Threads that are to get them, by the agent: bit tid % 1024. One that has blocked the signal as
       it began is not among them: it may wait for signals by sigwait(3). */
    uint64_t willing[TRACE_WILLING_WORDS];
    uint32_t source; /* enum trace_source */
    uint32_t reserved_for_source;
    /* Bytes at the end of the memory that the agent has, `capacity` bytes from its begin: blocks of
       cover, which children have, too. Nothing lies behind them that who has these could reach. When
       the process is gone, and in snapshots, the service puts them behind the others. */
    uint64_t cover;
};

/* What a trace was made from. */
enum trace_source {
    TRACE_OF_HOOKS = 0,  /* an agent: contexts are what was called */
    TRACE_OF_STACKS = 1, /* samples of a process without one, which lie beside it (stacks_format.h); the trace
                            has its threads alone. Ticks are those of system_clock_steady_ns */
};

/*
 * With TRACE_TIMING_SAMPLES: whether the service has the kernel send the agent's signal to threads as
 * they use processor time (service/sampling/cpu_signals.h), beside the timers they have themselves.
 *
 *      agent      NONE ---> WANTED       it handles the signal
 *      service    WANTED ---> SENT       from here on; where it may not, it stays WANTED
 *      agent      NONE, WANTED -> OVER   the program wants the signal, or blocks it
 *      agent      SENT ---> UNWANTED     it wants or blocks it, and waits for
 *      service    UNWANTED ---> OVER     no more are sent
 *      service    SENT ---> OVER         it leaves the process
 */
enum trace_signals {
    TRACE_SIGNALS_NONE = 0,
    TRACE_SIGNALS_WANTED = 1,
    TRACE_SIGNALS_SENT = 2,
    TRACE_SIGNALS_UNWANTED = 3,
    TRACE_SIGNALS_OVER = 4,
};

enum trace_block_kind {
    TRACE_BLOCK_THREAD = 1,  /* first block of a thread: trace_thread, then nodes */
    TRACE_BLOCK_NODES = 2,   /* further nodes of a thread */
    TRACE_BLOCK_MODULES = 3, /* struct trace_module, one behind the other */
    TRACE_BLOCK_STACK = 4,   /* how deep a thread's stack was: stack_format.h */
    TRACE_BLOCK_LINKS = 5,   /* struct trace_links, one behind the other */
    TRACE_BLOCK_WAITS = 6,   /* struct trace_wait, one behind the other, of a thread's contexts */
    TRACE_BLOCK_SITES = 7,   /* struct trace_site, one behind the other */
    TRACE_BLOCK_TIMES = 8,   /* struct trace_times, one behind the other */
    TRACE_BLOCK_HITS = 9,    /* struct trace_hit, one behind the other, in the order of their time */
    TRACE_BLOCK_COVER = 10,  /* bytes of an image's basic blocks: below */
};

/* Unit 0 of each block. */
struct trace_block {
    uint32_t kind;   /* enum trace_block_kind; 0: handed out, not yet in use: pass over it */
    uint32_t thread; /* ordinal of the owning thread, 0 for modules and cover */
    uint32_t used;   /* units in use, this one included; what lies past it is zero */
    uint32_t function; /* of cover: the first function of the image */
    uint32_t page;     /* of cover: which part of the image's, from 0 */
    uint32_t block_hash; /* of cover: the image's (image_header) */
    uint32_t reserved[10];
};

/*
 * Cover: which basic blocks of an image have run. A block of the trace has a byte for each of
 * TRACE_COVER_BYTES of them, 1 if it has, and lies over the image's own page (image_manifest.h):
 * the code that sets it does so in the trace at once, whatever ends the process.
 */
#define TRACE_COVER_BYTES (TRACE_BLOCK_SIZE - TRACE_UNIT)

enum trace_thread_state {
    TRACE_THREAD_RUNNING = 1,
    TRACE_THREAD_ENDED = 2, /* `live` and `end_ticks` are set */
    TRACE_THREAD_CUT = 3, /* live when the process ended through exit(); `live` was counted then, */
                          /* and some of these calls may have returned since */
};

enum trace_sampled { /* a set */
    TRACE_SAMPLED_BY_TIMER = 1, /* of its own */
    TRACE_SAMPLED_BY_PERF = 2,  /* by signals that the service sends */
    TRACE_SAMPLED_STOPPED = 4,  /* and no more: the program wanted the signal, or forbade what it takes */
};

/* Units 1 to 3 of a thread's first block. */
struct trace_thread {
    uint32_t tid;     /* as the kernel numbers it */
    uint32_t ordinal; /* 1 for the first thread that was seen, and so on */
    uint32_t root;    /* index of the root node, function 0 */
    uint32_t state;   /* enum trace_thread_state */
    char name[32];    /* zero-terminated; the last name that was seen */
    uint64_t start_ticks;
    uint64_t end_ticks;
    uint64_t unwound;   /* invocations that ended without a return (exception, longjmp, exit …) */
    uint64_t skipped;   /* calls passed through: a hook inside a hook, or no thunk to be had */
    uint64_t dropped;   /* calls passed through: no room for their context */
    uint32_t nodes;     /* nodes of this thread */
    uint32_t folded;    /* of these, contexts that were folded */
    uint64_t live;      /* invocations not ended, as counted at `end_ticks` */
    uint64_t inherited; /* returns from calls made before a fork: recorded by the parent */
    uint64_t in_hooks;  /* with TRACE_TIMING_SAMPLES: processor time in the agent, in ticks */
    uint32_t is_sampled; /* with TRACE_TIMING_SAMPLES: enum trace_sampled, or 0: takes no samples */
    uint32_t reserved;
    uint64_t processor_ns; /* of the thread, by its clock, while it takes samples, up to its end or
                              its last sample: what `ticks` and `in_hooks` should add up to */
    uint64_t untold_times; /* calls of functions to be timed that there was no room for */
    /* With TRACE_TIMING_SAMPLES: what the thread waited in system calls that umbra record answered, each
       50 us or more, and is no context's (trace/answered_calls.h). */
    uint64_t answered_ticks;
    uint64_t answered; /* such calls */
    uint64_t unused[4];
};

/* Where the nodes of a thread's first block begin: the unit. */
#define TRACE_FIRST_NODE 4u

/* Bits above the 47 of a user-space address. */
#define TRACE_SITE_TAIL    (1ull << 63) /* entered by a jump: the parent's invocation ended there */
#define TRACE_SITE_FOLDED  (1ull << 62) /* a representative, see above */
#define TRACE_SITE_SHARED  (1ull << 60) /* from any place of the caller's, and no address: trace_site */
#define TRACE_SITE_ADDRESS ((1ull << 56) - 1)

/* Bits above the number of a function: a leaf without loops, as the rewriter saw; one whose calls are each
   to be timed (struct trace_times). */
#define TRACE_FUNCTION_LEAF   (1u << 31)
#define TRACE_FUNCTION_TIMED  (1u << 30)
#define TRACE_FUNCTION_NUMBER (TRACE_FUNCTION_TIMED - 1)

/*
 *      0      8        12         16      24      32      40
 *      +------+--------+----------+-------+-------+-------+--------+
 *      | site | parent | function | calls | exits | ticks | passed |
 *      +------+--------+----------+-------+-------+-------+--------+
 *      48     52    53     54       55   56      60
 *      +------+-----+------+--------+----+-------+---------+
 *      | next | gap | mask | random | 0  | timed | context |
 *      +------+-----+------+--------+----+-------+---------+
 *
 * Calls are numbered from 1, passed ones too. Number `next` is the next to be timed, `next - gap`
 * was the last (modulo 2^32): calls behind that one have no part in `ticks` yet.
 */
struct trace_node {
    uint64_t site;     /* return address of the call, and TRACE_SITE_ bits */
    uint32_t parent;   /* index of the caller's context; 0 for a root or a representative */
    uint32_t function; /* number, see trace_module, and TRACE_FUNCTION_ bits; 0 for a root */
    uint64_t calls;    /* entries, passed ones apart */
    uint64_t exits;    /* returns, and jumps to another function in place of a return */
    uint64_t ticks;    /* from entry to end, callees and probes included, of all that ended: each
                          timed one as often as calls it stands for */
    uint64_t passed;   /* untimed calls of a leaf: entered, and taken for returned. Where the trace
                          has a base, of any other function: the address of its links, or 0 */
    uint32_t next;     /* adaptive timing only, to `timed` */
    uint8_t gap;       /* 0: the context's calls are never timed */
    uint8_t mask;   /* the next gap is mask / 2 + 1 + (random & mask), mask being 2^n - 1 */
    uint8_t random; /* from the last clock reading */
    uint8_t reserved;
    uint32_t timed;   /* calls timed */
    uint32_t context; /* parent of what is called from here: see folding */
};

/*
 * System calls of a context in which its thread waited, with TRACE_TIMING_SAMPLES and of copies: wall
 * clock that was not processor time. One for each context that has waited; in a block they begin at unit
 * 1, and the first one whose node is 0 ends them.
 *
 *      0      4       8       16        24      32
 *      +------+-------+-------+---------+-------+
 *      | node | count | ticks | longest | ended |
 *      +------+-------+-------+---------+-------+
 */
struct trace_wait {
    uint32_t node;    /* index; 0: not committed. Stored last */
    uint32_t count;   /* system calls: those that took some 50 us or more */
    uint64_t ticks;   /* of all of them */
    uint64_t longest; /* of one */
    uint64_t ended;   /* rdtsc when that one was over */
};

#define TRACE_IN_BLOCK(type) ((TRACE_BLOCK_SIZE - TRACE_UNIT) / sizeof(type))

/*
 * Where calls of contexts with TRACE_SITE_SHARED were made, which are those that links of their callers
 * count, where calls are counted and none is timed. In a block like waits.
 *
 *      0      8      12     16      24       28
 *      +------+------+------+-------+--------+---+
 *      | site | node | link | calls | callee | 0 |
 *      +------+------+------+-------+--------+---+
 *
 * Either what a link counts is of this place, or `calls` calls of `callee` were made there, which its link
 * has handed on (`entered`). Calls of such a context that neither tells of were made from a place that is not known.
 */
struct trace_site {
    uint64_t site; /* return address */
    uint32_t node; /* the caller's context; 0: not committed. Stored last */
    uint32_t link; /* where one of its links is in the trace, in units of its size; or
                      TRACE_SITE_HANDED_ON: see `calls` */
    uint64_t calls;
    uint32_t callee; /* context */
    uint32_t reserved;
};

#define TRACE_SITE_HANDED_ON UINT32_MAX

/*
 * A sample of a thread, with TRACE_TIMING_SAMPLES; of many samples some (hooks/hits.h). Its time is in
 * `ticks` of its context, too. In a block like waits.
 *
 *      0       8             16     20   24
 *      +-------+-------------+------+----+
 *      | ticks | instruction | node | ns |
 *      +-------+-------------+------+----+
 */
struct trace_hit {
    uint64_t ticks;       /* when; 0: not committed. Stored last */
    uint64_t instruction; /* address that was to be executed next */
    uint32_t node;        /* index: the context, or the root for what is in none */
    uint32_t ns;          /* processor time that it stands for */
};

/*
 * How long calls took of a context whose function is to be timed, from entry to return by the wall clock; or
 * of all contexts of that function which have no record of their own: node 0. Where calls are counted and
 * none else is timed. In a block like waits.
 *
 *      0      4          8       16      24        32              40
 *      +------+----------+-------+-------+---------+---------------+-------------+
 *      | node | function | count | ticks | longest | longest_ended | buckets …   |
 *      +------+----------+-------+-------+---------+---------------+-------------+
 */
struct trace_times {
    uint32_t node;     /* index, or 0 */
    uint32_t function; /* number; 0: not committed. Stored last */
    uint64_t count;    /* calls that returned */
    uint64_t ticks;    /* of all of them */
    uint64_t longest;  /* of one */
    uint64_t longest_ended;         /* rdtsc when that one was over */
    uint32_t buckets[TIME_BUCKETS]; /* calls: trace/time_buckets.h */
};

enum trace_module_flags {
    TRACE_MODULE_INSTRUMENTED = 1, /* has functions numbered first_function … + count - 1 */
    TRACE_MODULE_COUNTED = 2,      /* instructions of its copied functions are counted */
};

/*
 * A module that was seen in the address space. Functions are numbered through all instrumented
 * modules of the process in the order in which the modules were first entered, so a module that
 * is unloaded and loaded again, elsewhere or replaced, has numbers of its own each time.
 *
 *      function number - first_function = place in the image's manifest (image_manifest.h)
 */
struct trace_module {
    uint32_t size_units;     /* of this record, path included; stored last */
    uint32_t flags;          /* enum trace_module_flags */
    uint64_t base;           /* address of the image's lowest byte */
    uint64_t size;           /* bytes of address space */
    uint32_t first_function; /* number of its first function; 0 if not instrumented */
    uint32_t function_count;
    uint64_t seen_ticks;
    uint64_t original_hash; /* XXH3 64 of the original file's content; 0 if not instrumented */
    uint32_t build_id_size; /* bytes in build_id; 0 if there is none or it was not read */
    uint32_t path_size;     /* with its terminating zero */
    uint8_t build_id[32];
    uint8_t reserved[40];
    char path[]; /* of the file that is mapped */
};

/*
 * Calls that copied bodies count themselves (docs/copies.md). The context of a function that calls
 * others has *links*, one for each place that it calls from:
 *
 *      0     4      8       10      12       14  16        24             32
 *      +-----+------+-------+-------+--------+---+---------+--------------+------------------+-------------------+
 *      | key | node | first | count | chunks | f | entered | instructions | count trace_link | chunks addresses  |
 *      +-----+------+-------+-------+--------+---+---------+--------------+------------------+-------------------+
 *
 * In a block they begin behind unit 0, each at a multiple of 16 bytes; the first one whose node is 0
 * ends them. A function with more places than TRACE_LINKS_INLINE has the rest in chunks, which are
 * records of this kind themselves: `first` tells the number of their first link.
 *
 * A link counts calls of `callee`, which is an address in the process: less header.base, the offset
 * in the trace of a struct trace_links, whose node is meant; or, with bit 0 set, of a trace_node.
 * Words of call sites that go by pointers lie among the links: their `callee` is code, and no address
 * in the trace. So a link whose callee is neither says nothing.
 *
 *      calls through a link   =  word + armed, without its highest bit        modulo 2^32
 *      calls of a context     =  calls + passed of its node, of which passed is 0 where it is an address,
 *                                + entered of its links
 *                                + calls through all links that lead to it
 *
 * Such calls are taken for returned, as passed ones are: copies do not see the ends of calls.
 *
 * instructions: that the context's function executed itself, in a module with TRACE_MODULE_COUNTED; a
 * context's are those of all its records. Modulo 2^64: a part may be negative for a while.
 */
struct trace_link {
    uint64_t callee;
    int32_t word; /* counts up; not negative: the call takes the slow path */
    uint32_t armed; /* TRACE_LINK_JUMP, and what word was when it was negative last */
};

#define TRACE_LINK_JUMP 0x80000000u

#define TRACE_LINKS_INLINE 64
#define TRACE_LINKS_CHUNK  32

/* Flags of a record: links of this context count jumps out of its function, and have TRACE_LINK_JUMP; it is of
   a frame that has no context, whose calls are below another's, and `entered` is the agent's own. */
#define TRACE_LINKS_JUMP    1
#define TRACE_LINKS_ADOPTED 2

struct trace_links {
    uint32_t key;  /* what copies know their own contexts by */
    uint32_t node; /* index; 0: not committed. Stored last */
    uint16_t first;
    uint16_t count;
    uint16_t chunks; /* addresses behind the links: of chunk 0, 1, … or 0 */
    uint8_t flags;    /* f: TRACE_LINKS_JUMP and so on */
    uint8_t unknown;  /* the agent's own; nothing to readers */
    uint64_t entered; /* calls that came through no link, and have no record */
    uint64_t instructions;
    struct trace_link links[];
};

/* Bytes of a record, up to where the next one begins. */
static inline uint32_t trace_links_size(const struct trace_links *links)
{
    uint32_t size = sizeof(*links) + links->count * (uint32_t)sizeof(struct trace_link) +
                    links->chunks * (uint32_t)sizeof(uint64_t);

    return (size + 15) / 16 * 16;
}

/* What of a node's `passed` is a number of calls. */
static inline uint64_t trace_node_passed(const struct trace_header *header,
                                         const struct trace_node *node)
{
    return header->base && !(node->function & TRACE_FUNCTION_LEAF) ? 0 : node->passed;
}

_Static_assert(sizeof(struct trace_header) <= TRACE_HEADER_SIZE, "header fits its page");
_Static_assert(__builtin_offsetof(struct trace_header, base) == 3344, "tests/lib.sh");
_Static_assert(sizeof(struct trace_block) == TRACE_UNIT, "block header is a unit");
_Static_assert(TRACE_IN_BLOCK(struct trace_times) == 1, "times fit a block");
_Static_assert(sizeof(struct trace_thread) == (TRACE_FIRST_NODE - 1) * TRACE_UNIT, "three units");
_Static_assert(sizeof(struct trace_node) == TRACE_UNIT, "node is a unit");
_Static_assert(sizeof(struct trace_module) == 2 * TRACE_UNIT, "module record is two units");
_Static_assert(sizeof(struct trace_link) == 16, "link");
_Static_assert(sizeof(struct trace_links) == 32, "links");

#endif
