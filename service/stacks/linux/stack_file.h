/* NAME.stacks and NAME.bin of one process that is sampled: trace/stacks_format.h. */
#ifndef UMBRA_SERVICE_STACK_FILE_H
#define UMBRA_SERVICE_STACK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "service/stacks/linux/stack_events.h"
#include "service/traces/trace_dir.h"
#include "service/traces/trace_file.h"
#include "trace/trace_format.h"

/* What was last seen of a thread's stack. */
struct stack_dump {
    uint64_t address;
    size_t size;
    unsigned char *bytes; /* STACKS_MOST_STACK; null: nothing was seen */
};

struct stack_file {
    FILE *stream; /* null: there is none */
    int error;    /* errno of the first write that failed; 0: none did */
    struct stacks_header header;
    char name[TRACE_FILE_NAME_SIZE]; /* of the trace */
};

/*
 * Makes NAME.stacks. Takes from the trace's header: exe, pid, session, created_ns. Changes in it: session, to
 * the next one whose name is free. Returns false, errno set, and nothing left behind.
 */
bool stack_file_begin(struct stack_file *file, const struct trace_dir *directory,
                      struct trace_header *header, uint32_t period_ns, bool is_of_user);

/* What goes wrong from here on is told by stack_file_end. */
void stack_file_map(struct stack_file *file, const struct stack_event *map);
void stack_file_sample(struct stack_file *file, const struct stack_event *sample,
                       struct stack_dump *last);

/* Completes it, and makes NAME.bin of the header and the threads, by ordinals from 1 on. Returns false, errno
   set: then neither is there. */
bool stack_file_end(struct stack_file *file, const struct trace_dir *directory,
                    struct trace_header *header, const struct trace_thread *threads,
                    size_t thread_count);

#endif
