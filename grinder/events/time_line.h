/*
 * Time lines: the calls of a call-trace recording's threads as well-nested begins and ends.
 *
 * A thread's events are run on a stack of its open calls:
 *
 *      entry of n       n is open, above all others
 *      end of n         n innermost:  it ends
 *                       n open:       those above it end too, at that time; counted as closed
 *                       n not open:   left out; counted as an orphan
 *      events lost      a gap. The next event's chain of callers, from the tree, says which of the
 *                       open calls are over: closed too
 *      no more events   what is open ends at the thread's last time; counted as open
 *
 * So for each thread, whatever was lost:
 *
 *      entries = ended + closed + open        begins = ends handed out, for what is selected
 *      exits + unwound = ended + orphans
 *
 * Time never goes back: an event that a signal handler's overtook gets the time of that one.
 * Coroutines leave the order of a stack: a call that is left by a switch of stacks is closed by the
 * next end further down, and its own end is then an orphan. Entries stay exact. The end of a call
 * on another thread than the one that began it is an orphan there, and the call is closed or open
 * where it began.
 *
 * Memory: 4 bytes an open call, 4 bytes a node of the tree, and the batches of event_stream.h; not
 * by events.
 */
#ifndef UMBRA_GRINDER_TIME_LINE_H
#define UMBRA_GRINDER_TIME_LINE_H

#include "grinder/profile/profile.h"
#include "trace/event_reader.h"

/* How a call came to its end. */
enum time_line_end {
    TIME_LINE_ENDED,
    TIME_LINE_CLOSED, /* its end is not known, but that of a call further down */
    TIME_LINE_OPEN,   /* it was open when its thread, or the range of time, ended */
};

/* thread: place in process->threads; call: one of process->nodes, the first for a call of which
   nothing is known. Times are in ns since the recording began, and do not fall within a thread. A
   null function is passed over. */
struct time_line_visitor {
    void *user;
    void (*begin)(void *user, size_t thread, const struct tree_node *call, uint64_t ns);
    void (*end)(void *user, size_t thread, uint64_t ns, enum time_line_end how);
    void (*gap)(void *user, size_t thread, uint64_t from_ns, uint64_t to_ns, uint64_t dropped);
};

struct time_line_facts {
    uint64_t entries, exits, unwound; /* events */
    uint64_t ended, closed, open;     /* calls, see above */
    uint64_t orphans;
    uint64_t dropped, gaps;
    uint64_t calls; /* begun, of what is selected */
    uint64_t ns;    /* in calls, of what is selected; as in the events: probes included */
};

/* What is wanted. */
struct time_line_range {
    uint64_t from_ns, to_ns;
    uint32_t thread; /* place in process->threads, + 1; 0: all that are selected */
};

/* Where ticks of each process lie on the time line of all of them. */
struct time_line_clock {
    uint64_t start_ticks;
    uint64_t offset_ns;
    uint64_t ns_a_tick; /* fixed point, TIME_LINE_FRACTION bits of it behind the point */
};

#define TIME_LINE_FRACTION 56

struct time_line_clock time_line_clock(const struct profile *profile, size_t process);

/*
 * Walks the events of a process that has some (process.nodes). facts, one for each thread of the
 * process, is filled in for those that are wanted. False comes after what could be read: ends are
 * handed out for all begins all the same.
 */
bool time_line_walk(const struct profile *profile, size_t process,
                    const struct time_line_range *range, const struct time_line_visitor *visitor,
                    struct time_line_facts *facts, struct event_totals *totals,
                    struct failure *failure);

/* The name of a function in a time line; those a tree does not know (yet) have none: 0. */
const char *time_line_name(const struct images *images, uint32_t function);

#endif
