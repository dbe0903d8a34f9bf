/*
 * The trace of a process, from the service's side: made, handed out, completed when the process is
 * gone. What is in it: trace/trace_format.h.
 *
 * Of a native program it is memory (memory_file.h), written out at the end. Beside it, its name in
 * the trace directory is taken from the start, by a file that is a snapshot of the beginning; the
 * keeper (keeper.h) puts newer snapshots in its place meanwhile.
 *
 *      create     memory  |header|............ hole ............................| capacity
 *      recording          |header|block|block|block|....... hole ...............| capacity
 *                                                  ^ header.used, kept by the agent
 *      end        file    |header|block|block|block|
 *
 * Of a Windows program it is the file itself: as long as `capacity`, sparse, cut at the end.
 */
#ifndef UMBRA_SERVICE_TRACE_FILE_H
#define UMBRA_SERVICE_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/traces/trace_dir.h"
#include "trace/trace_format.h"

#define TRACE_FILE_NAME_SIZE 128

struct trace_file {
    int fd;
    struct trace_header *header; /* mapped, where it is in memory; else null */
    uint64_t capacity;
    uint64_t first;                  /* file_identity of the first snapshot; 0: not known */
    uint64_t identity;               /* file_identity */
    char name[TRACE_FILE_NAME_SIZE]; /* EXE-PID-SESSION.bin, in the trace directory */
};

/* EXE-PID-SESSION.bin, of the header's, with nothing in it that a shell or a terminal would take for itself. */
void trace_file_name(char name[TRACE_FILE_NAME_SIZE], const struct trace_header *header);

/*
 * Makes a new trace in memory or as a file, and its file in directory, readable by its owner alone,
 * both with `header` as their first page.
 * Takes from header: exe, system, pid, session, capacity, paused. Changes in it: session, to the
 * next one whose name is free; capacity, to what the file system and RLIMIT_FSIZE allow; and fills
 * in what every trace has. Returns false, errno set and nothing left behind.
 */
bool trace_file_create(struct trace_file *file, int directory, struct trace_header *header,
                       bool in_memory);

/*
 * Takes over a trace in memory that another process made: fd, which becomes the file's. Returns
 * false, errno set, if it is none; the descriptor remains the caller's then.
 */
bool trace_file_adopt(struct trace_file *file, int fd, const char *name);

/* Bytes in use, as the agent says: not checked. TRACE_HEADER_SIZE if it cannot be read. */
uint64_t trace_file_used(const struct trace_file *file);

/* Writes tick_before and tick. */
void trace_file_write_ticks(const struct trace_file *file, const uint64_t ticks[2]);

/* What a trace gets when its process is gone. */
struct trace_file_end {
    enum trace_end kind;
    uint64_t seen_ticks;
    uint64_t ticks_per_second;
    enum trace_end_how how; /* and code, as trace_format.h says */
    uint32_t code;
};

/* Tells the agent to pause, or to go on. Returns false, errno set. */
bool trace_file_pause(struct trace_file *file, bool paused);

/*
 * Writes the end into the header, completes the file, and closes all. The process must not have it
 * mapped any more. `used` out of bounds is reported and put right. Where the directory has no room,
 * the trace goes to one that has (trace_write_out.c), with a link to it in place, and a message says so;
 * elsewhere, of that size, is where, or empty. Returns the length of the file.
 */
uint64_t trace_file_end(struct trace_file *file, const struct trace_dir *directory,
                        const struct trace_file_end *end, char *elsewhere, size_t size);

/*
 * Whether no other process has the file, as far as the system can tell, so that it may be ended. To
 * be asked when the process is believed to be gone: cuts the file if so.
 */
bool trace_file_cut_if_unused(const struct trace_file *file);

/* Closes the file and leaves it as it is. */
void trace_file_leave(struct trace_file *file);

/* Closes and removes it. */
void trace_file_discard(struct trace_file *file, int directory);

#endif
