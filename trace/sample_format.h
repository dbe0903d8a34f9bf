/*
 * Samples: NAME.samples beside NAME.bin, written by the service. It has the kernel note a running
 * thread's instruction pointer each `period_ns` of its processor time. The recorded process takes
 * no part in that, and counts of calls do not depend on it. Samples tell how much of the time was
 * the program's and how much the hooks'.
 *
 *      0  +--------------------------+
 *         | struct samples_header    |
 *     64  +--------------------------+
 *         | struct sample 0          |  entry_count of them, ascending by tid, address and caller
 *         | struct sample 1 …        |
 *         +--------------------------+
 *
 * Only time in user mode is sampled. What a thread does in the kernel, or waits for, is not; nor is
 * what the process does while it is paused.
 */
#ifndef UMBRA_SAMPLE_FORMAT_H
#define UMBRA_SAMPLE_FORMAT_H

#include <stdint.h>

#define SAMPLES_MAGIC   "UMBRASMP"
#define SAMPLES_VERSION 1
#define SAMPLES_SUFFIX  ".samples"

struct samples_header {
    char magic[8];    /* SAMPLES_MAGIC, no terminating zero */
    uint32_t version; /* SAMPLES_VERSION */
    uint32_t entry_count;
    uint64_t created_ns; /* that of the trace, which says whose samples these are */
    uint32_t pid;        /* that of the trace */
    uint32_t period_ns;  /* processor time that a sample stands for */
    uint64_t taken;      /* sum of the entries' counts */
    uint64_t lost;       /* taken by the kernel, and not kept */
    uint64_t reserved[2];
};

struct sample {
    uint64_t address; /* of the instruction */
    /* Where the address is in no instrumented image and not in the agent: the nearest word on the
       stack, from its pointer up, that points behind a call in such an image, most likely where the
       code there returns to. Else 0, and where no such word is among the first 256. */
    uint64_t caller;
    uint32_t tid; /* as the kernel numbers it */
    uint32_t count;
};

_Static_assert(sizeof(struct samples_header) == 64, "samples header");
_Static_assert(sizeof(struct sample) == 24, "sample");

#endif
