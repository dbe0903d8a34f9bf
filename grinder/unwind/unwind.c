#include "grinder/unwind/unwind.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/base/child.h"
#include "grinder/base/pair_index.h"
#include "support/memory.h"

/* What following a sample takes is some 50 us, and reading an image's frames as much as a second.
 */
#define CHILD_SECONDS      30
#define SAMPLES_PER_SECOND 1000
#define CHILD_MEMORY       (2ull << 30) /* beside what the grinder has by then */

/* A thread's last sample. */
struct last {
    uint64_t *frames;
    uint32_t count;
};

struct reader {
    FILE *pipe; /* null: there is no more to come */
    struct pair_index tids;
    struct last *lasts;
    size_t last_count, last_room;
    uint64_t frames[UNWIND_MOST_FRAMES];
};

static uint64_t count_samples(struct stacks_file *file)
{
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    uint64_t count = 0;
    int kind;

    stacks_file_rewind(file);
    while ((kind = stacks_file_next(file, &mapping, &sample, &dump)))
        count += kind == STACKS_SAMPLE;
    return count;
}

/* What the child is to follow. */
struct to_follow {
    const struct libdw *libdw;
    struct stacks_file *file;
    const struct unwind_module *modules;
    size_t module_count;
};

static int follow(void *with, int pipe)
{
    const struct to_follow *all = with;

    return unwind_write(all->libdw, all->file, all->modules, all->module_count, pipe);
}

static pid_t start_child(const struct libdw *libdw, struct stacks_file *file,
                         const struct unwind_module *modules, size_t module_count, int *pipe_end)
{
    const struct child_limits limits = {
        .seconds = CHILD_SECONDS + count_samples(file) / SAMPLES_PER_SECOND,
        .memory = CHILD_MEMORY,
    };
    struct to_follow all = {libdw, file, modules, module_count};

    return child_start(&limits, follow, &all, pipe_end);
}

static struct last *last_of(struct reader *reader, uint32_t tid)
{
    uint32_t place;

    if (!pair_index_find(&reader->tids, tid, 0, &place)) {
        if (reader->last_count == UNWIND_MOST_THREADS)
            return NULL;
        place = pair_index_add(&reader->tids, tid, 0);
    }
    if (place == reader->last_count) {
        reader->lasts = memory_grow(reader->lasts, reader->last_count, &reader->last_room,
                                    sizeof(*reader->lasts));
        reader->lasts[reader->last_count++] = (struct last){0};
    }
    return &reader->lasts[place];
}

static void remember(struct last *last, const struct unwound *unwound)
{
    size_t size = unwound->count * sizeof(*last->frames);

    if (!last)
        return;
    if (unwound->count > last->count)
        last->frames = memory_or_exit(realloc(last->frames, size), size);
    memcpy(last->frames, unwound->frames, size);
    last->count = unwound->count;
}

/* False: that was no report. */
static bool read_frames(struct reader *reader, const struct last *last, struct unwound *unwound)
{
    uint32_t head[2], count, same, known = last ? last->count : 0;

    if (fread(head, sizeof(head), 1, reader->pipe) != 1)
        return false;
    count = head[0] & ~UNWIND_IS_WHOLE;
    same = head[1];
    if (count > UNWIND_MOST_FRAMES || same > known || same > UNWIND_MOST_FRAMES - count ||
        !(count + same) ||
        fread(reader->frames, sizeof(*reader->frames), count, reader->pipe) != count)
        return false;
    if (same)
        memcpy(reader->frames + count, last->frames + (known - same),
               same * sizeof(*reader->frames));
    unwound->frames = reader->frames;
    unwound->count = count + same;
    unwound->is_whole = head[0] & UNWIND_IS_WHOLE;
    return true;
}

/* The child goes over the same samples in the same order. */
static bool take_report(struct reader *reader, struct stacks_file *file,
                        const struct unwound_receiver *receiver)
{
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    size_t known = 0;
    bool ok = reader->pipe != NULL;
    int kind;

    stacks_file_rewind(file);
    while ((kind = stacks_file_next(file, &mapping, &sample, &dump))) {
        struct unwound unwound = {&sample, known, &sample.registers[STACKS_RIP], 1, false};
        struct last *last;
        if (kind == STACKS_MAP) {
            known++;
            continue;
        }
        last = ok ? last_of(reader, sample.tid) : NULL;
        ok = ok && read_frames(reader, last, &unwound);
        if (ok)
            remember(last, &unwound);
        receiver->take(receiver->owner, &unwound);
    }
    return ok;
}

static void reader_free(struct reader *reader)
{
    for (size_t i = 0; i < reader->last_count; i++)
        free(reader->lasts[i].frames);
    free(reader->lasts);
    pair_index_free(&reader->tids);
    free(reader);
}

/* False: it did not come to its end, or was ended because it has failed. */
static bool end_child(pid_t child, FILE *pipe, bool has_failed)
{
    if (has_failed)
        kill(child, SIGKILL);
    fclose(pipe);
    return child_wait(child) == 0 && !has_failed;
}

bool unwind_stacks(const struct unwound_receiver *receiver, struct stacks_file *file,
                   const struct unwind_module *modules, size_t module_count,
                   struct failure *failure)
{
    struct reader *reader = memory_zeroed(1, sizeof(*reader));
    struct libdw libdw;
    pid_t child = -1;
    bool ok, is_followed = false;
    int pipe_end;

    if (libdw_load(&libdw, failure)) {
        child = start_child(&libdw, file, modules, module_count, &pipe_end);
        if (child < 0)
            fail_because(failure, "%s", strerror(errno));
    }
    if (child >= 0)
        reader->pipe = memory_or_exit(fdopen(pipe_end, "rb"), sizeof(FILE));
    ok = take_report(reader, file, receiver);
    if (child >= 0) {
        is_followed = end_child(child, reader->pipe, !ok);
        if (!is_followed)
            fail_because(failure, "the stacks cannot be followed to the end");
    }
    reader_free(reader);
    return is_followed;
}
