/*
 * Reading a trace file, block by block, trusting nothing in it.
 *
 * A trace may belong to a process that is still recording, was killed, or to a disk that lost
 * half of it. The reader copies blocks out of the file with pread, a megabyte at a time, so that
 * what was checked cannot change afterwards, a file that shrinks is no SIGBUS, and memory does
 * not grow with the file. Holes of a sparse file are skipped without being read.
 *
 * Where the trace has a base, nodes are handed over with all of their calls: the file is gone over
 * for its links first (link_sums.h), and what these count is among `passed`, which is then a number
 * of calls in every node. So nobody else needs to know of links.
 *
 * What is checked here: every field of the header, block, thread, module, stack, links and waits records,
 * and that strings end. References between nodes (parent, context, root), function numbers and
 * stack entries need the whole file and are the caller's to check; they are handed over as they
 * stand.
 */
#ifndef UMBRA_TRACE_READER_H
#define UMBRA_TRACE_READER_H

#include "support/failure.h"
#include "trace/stack_format.h"
#include "trace/trace_format.h"

struct trace_file {
    const char *path; /* borrowed from the caller of trace_file_open */
    int fd;
    struct trace_header header; /* as it was when the file was opened; strings end */
    uint64_t file_size;
    uint64_t end;     /* where the whole blocks that are there end; reading stops here */
    uint64_t missing; /* bytes the header counts as used and the file does not have */
};

/* What reading calls. Pointers are valid during the call only; a null function is passed over. */
struct trace_visitor {
    void *user;
    void (*thread)(void *user, const struct trace_thread *thread);
    /* count units of a block of thread's nodes, the first with the index first. Nodes that were
       not committed (context 0) are among them. `passed` is a number of calls, links' included. */
    void (*nodes)(void *user, uint32_t thread, uint32_t first, const struct trace_node *nodes,
                  uint32_t count);
    void (*module)(void *user, const struct trace_module *module);
    /* So many calls of a context with TRACE_SITE_SHARED were made from a place: `site` is a return
       address. Behind all nodes. */
    void (*site)(void *user, uint32_t node, uint64_t site, uint64_t calls);
    /* A context's function has executed so many instructions itself. Behind all nodes. */
    void (*instructions)(void *user, uint32_t node, uint64_t count);
    /* A sample of a thread. */
    void (*hit)(void *user, uint32_t thread, const struct trace_hit *hit);
    /* A thread waited in a context: each once. */
    void (*wait)(void *user, uint32_t thread, const struct trace_wait *wait);
    /* How long calls took, of each context of a function that is to be timed, and of all its others. */
    void (*times)(void *user, uint32_t thread, const struct trace_times *times);
    /* TRACE_COVER_BYTES bytes of blocks: `head` says of which. */
    void (*cover)(void *user, const struct trace_block *head, const uint8_t *bytes);
    /* STACK_BLOCK_ENTRIES entries, of which some were perhaps not written. */
    void (*stack)(void *user, const struct trace_stack *stack,
                  const struct trace_stack_entry *entries);
};

/* Opens path and reads its header. False: "FILE: place: what was expected, what was found", and
   nothing to close. A file shorter than its header says is opened, with `missing` set. */
bool trace_file_open(struct trace_file *file, const char *path, struct failure *failure);

/* Visits every committed block from the start of the file. False at the first record that is
   malformed. */
bool trace_file_read(const struct trace_file *file, const struct trace_visitor *visitor,
                     struct failure *failure);

void trace_file_close(struct trace_file *file);

#endif
