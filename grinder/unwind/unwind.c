#include "grinder/unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/memory.h"

#define CHILD_SECONDS 600

struct reader {
    FILE *pipe;
    struct unwound *unwound;
    size_t frame_count, frame_room, sample_room;
};

/* Which of the samples a thread's last one is. */
struct last {
    uint32_t tid;
    size_t sample;
};

static pid_t start_child(const struct libdw *libdw, struct stacks_file *file,
                         const struct unwind_module *modules, int *pipe_end)
{
    const struct rlimit seconds = {CHILD_SECONDS, CHILD_SECONDS}, none = {0, 0};
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        close(ends[0]);
        for (int i = 0; null >= 0 && i < 3; i++)
            dup2(null, i);
        setrlimit(RLIMIT_CPU, &seconds);
        setrlimit(RLIMIT_CORE, &none);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(unwind_write(libdw, file, modules, ends[1]));
    }
    close(ends[1]);
    *pipe_end = ends[0];
    if (pid < 0)
        close(ends[0]);
    return pid;
}

static void add_frame(struct reader *reader, uint64_t address)
{
    struct unwound *unwound = reader->unwound;

    unwound->frames = memory_grow(unwound->frames, reader->frame_count, &reader->frame_room,
                                  sizeof(*unwound->frames));
    unwound->frames[reader->frame_count++] = address;
}

/* before: the thread's last sample; null: this is its first. False: the report is at its end. */
static bool take_sample(struct reader *reader, const struct unwound_sample *before)
{
    struct unwound_sample sample = {.first = reader->frame_count};
    uint32_t head[2], count;

    if (fread(head, sizeof(head), 1, reader->pipe) != 1)
        return false;
    count = head[0] & ~UNWIND_IS_WHOLE;
    sample.is_whole = head[0] & UNWIND_IS_WHOLE;
    if (count > UNWIND_MOST_FRAMES || head[1] > (before ? before->count : 0))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address;
        if (fread(&address, sizeof(address), 1, reader->pipe) != 1)
            return false;
        add_frame(reader, address);
    }
    for (uint32_t i = 0; i < head[1]; i++)
        add_frame(reader, reader->unwound->frames[before->first + before->count - head[1] + i]);
    sample.count = count + head[1];
    reader->unwound->samples = memory_grow(reader->unwound->samples, reader->unwound->count,
                                           &reader->sample_room, sizeof(sample));
    reader->unwound->samples[reader->unwound->count++] = sample;
    return true;
}

/* The child goes over the same samples in the same order. */
static bool take_report(struct reader *reader, struct stacks_file *file)
{
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    struct last *lasts = NULL;
    size_t count = 0, room = 0, i;
    int kind;
    bool ok = true;

    stacks_file_rewind(file);
    while (ok && (kind = stacks_file_next(file, &mapping, &sample, &dump))) {
        if (kind != STACKS_SAMPLE)
            continue;
        for (i = count; i-- > 0;)
            if (lasts[i].tid == sample.tid)
                break;
        ok = take_sample(
            reader,
            i < count
                ? &(struct unwound_sample){reader->unwound->samples[lasts[i].sample].first,
                                           reader->unwound->samples[lasts[i].sample].count, false}
                : NULL);
        if (i >= count) {
            lasts = memory_grow(lasts, count, &room, sizeof(*lasts));
            lasts[i = count++].tid = sample.tid;
        }
        lasts[i].sample = reader->unwound->count - 1;
    }
    free(lasts);
    return ok;
}

int unwind_stacks(struct unwound *unwound, struct stacks_file *file,
                  const struct unwind_module *modules, const char **why)
{
    struct reader reader = {.unwound = unwound};
    struct libdw libdw;
    int pipe_end, status = 0;
    pid_t child;
    bool ok;

    *unwound = (struct unwound){0};
    if (!libdw_load(&libdw, why))
        return -1;
    child = start_child(&libdw, file, modules, &pipe_end);
    if (child < 0) {
        *why = strerror(errno);
        return -1;
    }
    *why = "the stacks cannot be followed to the end";
    reader.pipe = fdopen(pipe_end, "rb");
    ok = reader.pipe && take_report(&reader, file);
    if (!ok)
        kill(child, SIGKILL);
    if (reader.pipe)
        fclose(reader.pipe);
    else
        close(pipe_end);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return ok && WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

void unwound_free(struct unwound *unwound)
{
    free(unwound->frames);
    free(unwound->samples);
    *unwound = (struct unwound){0};
}
