/* Makes traces for tests, in memory: what an agent would have left behind. */
#ifndef UMBRA_TRACE_SAMPLE_H
#define UMBRA_TRACE_SAMPLE_H

#include <stddef.h>

#include "trace/stack_format.h"
#include "trace/trace_format.h"

struct trace_sample {
    uint8_t *bytes; /* the file; moves when something is added */
    size_t size;
    size_t thread_blocks[64]; /* offset of each thread's last block, by ordinal */
    size_t thread_at[64];     /* offset of its record */
    size_t module_block;      /* offset; 0 if there is none yet */
    size_t links_block;       /* offset; 0 if there is none yet */
    size_t links_end;         /* of the records in it */
};

/* A process that ended through exit(), with a clock of a tick a nanosecond and free probes. */
void trace_sample_begin(struct trace_sample *sample, uint32_t pid, const char *command);
void trace_sample_free(struct trace_sample *sample);

struct trace_header *trace_sample_header(struct trace_sample *sample);
struct trace_thread *trace_sample_thread(struct trace_sample *sample, uint32_t ordinal);
struct trace_node *trace_sample_node(struct trace_sample *sample, uint32_t index);

/* A thread that ended; returns its ordinal. Its root: trace_sample_thread(…)->root. */
uint32_t trace_sample_add_thread(struct trace_sample *sample, const char *name);

/* A context with that many calls, all of which returned; returns its index. */
uint32_t trace_sample_add_node(struct trace_sample *sample, uint32_t ordinal, uint32_t parent,
                               uint64_t site, uint32_t function, uint64_t calls, uint64_t ticks);

/* A representative of function. */
uint32_t trace_sample_add_fold(struct trace_sample *sample, uint32_t ordinal, uint32_t function);

/* A chain of count calls, the outermost first: depths in STACK_DEPTH_UNITs, nodes by index. The
   stack ends at 0x7fff00000000 and may take 8 MiB. Once a thread. */
struct trace_stack *trace_sample_add_stack(struct trace_sample *sample, uint32_t ordinal,
                                           const uint32_t *depths, const uint32_t *nodes,
                                           uint32_t count);

/* A place that calls are made from: of the link of a context, or, without one, so many of `callee`. */
void trace_sample_add_site(struct trace_sample *sample, uint32_t ordinal, uint32_t node,
                           uint64_t site, const struct trace_link *link);
void trace_sample_add_calls(struct trace_sample *sample, uint32_t ordinal, uint32_t node,
                            uint64_t site, uint32_t callee, uint64_t calls);

/* A sample, in a block of its own. */
struct trace_hit *trace_sample_add_hit(struct trace_sample *sample, uint32_t ordinal,
                                       const struct trace_hit *hit);

/* A wait of a context, in a block of its own. */
struct trace_wait *trace_sample_add_wait(struct trace_sample *sample, uint32_t ordinal,
                                         uint32_t node, uint32_t count, uint64_t ticks);

/* Bytes of blocks of the image whose first function that is: TRACE_COVER_BYTES of them, all 0. */
uint8_t *trace_sample_add_cover(struct trace_sample *sample, uint32_t function, uint32_t page,
                                uint32_t block_hash);

/* Times of a context, or of a function's others (node 0), in a block of its own: none yet. */
struct trace_times *trace_sample_add_times(struct trace_sample *sample, uint32_t ordinal,
                                           uint32_t node, uint32_t function);

void trace_sample_add_module(struct trace_sample *sample, const char *path, uint64_t base,
                             uint64_t size, uint32_t first_function, uint32_t function_count,
                             uint64_t original_hash);

/* The address of a trace with links in its process. */
#define TRACE_SAMPLE_BASE 0x7f5500000000ull

/* The links of a context, for that many places that it calls from, in chunks where they are many;
   returns the offset of the record that begins them. A function that is no leaf has their address
   for `passed`. */
size_t trace_sample_add_links(struct trace_sample *sample, uint32_t node, uint32_t places);
struct trace_links *trace_sample_links(struct trace_sample *sample, size_t links);

/* The link of a place, in whatever chunk it is; valid until something is added. */
struct trace_link *trace_sample_link(struct trace_sample *sample, size_t links, uint32_t place);

/* Adds that many calls, through the link of a place, of the context that has the links callee. */
void trace_sample_call(struct trace_sample *sample, size_t links, uint32_t place, size_t callee,
                       uint32_t calls);
/* Adds calls, through the link of a place, of a context without links. */
void trace_sample_call_node(struct trace_sample *sample, size_t links, uint32_t place,
                            uint32_t callee, uint32_t calls);

/* The instructions of all its modules' functions are counted. */
void trace_sample_count_modules(struct trace_sample *sample);

/* So many more that the context's function executed itself; gives it links of no places if it has none. */
void trace_sample_add_instructions(struct trace_sample *sample, uint32_t node, uint64_t count);

/* Puts the trace into a new file in memory and its path, good in this process and its children
   until the descriptor is closed, into path. Returns the descriptor. */
int trace_sample_open(const struct trace_sample *sample, char path[64]);

#endif
