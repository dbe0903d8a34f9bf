/*
 * Who called whom in whole stacks: each is followed from the innermost frame to the thread's start by what
 * the images say about their frames (.eh_frame), with elfutils' libdw. In code that no image has, or that
 * says nothing, frames are taken to be linked by rbp.
 *
 * An image may be anything, so that is done by a child process that can do nothing but read the images that
 * it was given, and report (support/confinement.h). What arrived before a crash is kept.
 *
 *      grinder                                child
 *        | -- fork: the stacks, the images ----> |
 *        | <- pipe: of each sample, in order --- |  | n | same | n addresses |
 *
 *      `same` frames behind these are the outermost ones of the thread's last sample. Bit 31 of n: the last frame is
 *      where the thread began.
 */
#ifndef UMBRA_GRINDER_UNWIND_H
#define UMBRA_GRINDER_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grinder/unwind/libdw.h"
#include "grinder/unwind/stacks_file.h"
#include "support/failure.h"

#define UNWIND_MOST_FRAMES 2048
#define UNWIND_IS_WHOLE    (1u << 31)

/* Both sides remember the last sample of so many threads; those of others have all of their frames. */
#define UNWIND_MOST_THREADS 16384

/* One for each mapping of the file, in order. */
struct unwind_module {
    int fd; /* of the image; -1: there is none. Remains the caller's */
    const char *name;
    uint64_t address, length;
    uint64_t bias;  /* address - bias: as linked */
    uint64_t entry; /* where the image's first instruction is, as it is mapped; 0: it has none */
};

/* A sample. Frames are the innermost first: of all but that one, where the call was, not where it returns to. */
struct unwound {
    const struct stacks_sample *sample;
    size_t known; /* so many of the mappings were there by then */
    const uint64_t *frames;
    uint32_t count;
    bool is_whole; /* up to where the thread began */
};

struct unwound_receiver {
    void (*take)(void *owner, const struct unwound *unwound); /* valid during the call alone */
    void *owner;
};

/* modules: of the first mappings; of others nothing is known. Begins with the first record; the
   receiver has all samples, in order. False: from one sample on each is but where it was taken. */
bool unwind_stacks(const struct unwound_receiver *receiver, struct stacks_file *file,
                   const struct unwind_module *modules, size_t module_count,
                   struct failure *failure);

/* The child's part (unwind_child.c): writes to pipe. Returns its exit status. */
int unwind_write(const struct libdw *libdw, struct stacks_file *file,
                 const struct unwind_module *modules, size_t module_count, int pipe);

#endif
