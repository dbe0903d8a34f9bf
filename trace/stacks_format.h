/*
 * Whole stacks: NAME.stacks beside NAME.bin, of a process that was sampled and not instrumented. The
 * kernel copies a thread's registers and the lower end of its stack each `period_ns` of its processor
 * time; who called whom is found later, by the grinder.
 *
 *      0  +--------------------------+
 *         | struct stacks_header     |
 *     64  +--------------------------+
 *         | record | record | …      |  each at a multiple of 8, up to the end of the file
 *         +--------------------------+
 *
 * Records are in the order of time:
 *
 *      map       | kind | size | address | length | offset | n | build-id | path, its zero, 0 … |
 *      sample    | kind | size | tid | flags | time | registers | low | kept | high | 0 | low and high bytes |
 *
 * A map says what of which file lies at an address from now on. A sample's stack begins at its stack
 * pointer. What its callers have there seldom changes from one sample of a thread to the next, so that is
 * in the file once:
 *
 *      stack pointer      + low                    + low + kept       + low + kept + high
 *      +------------------+------------------------+------------------+
 *      | in this record   | as in the thread's     | in this record   |
 *      |                  | last sample, there     |                  |
 *      +------------------+------------------------+------------------+
 *
 * All three are multiples of 8.
 */
#ifndef UMBRA_STACKS_FORMAT_H
#define UMBRA_STACKS_FORMAT_H

#include <stdint.h>

#define STACKS_MAGIC   "UMBRASTK"
#define STACKS_VERSION 1
#define STACKS_SUFFIX  ".stacks"
#define STACKS_UNDER_WAY "under-way" /* beside the instrumented files of a program that was attached to: a sample of each
                                        thread, when the hooks came; created_ns is 0, period_ns 1 */

#define STACKS_MOST_STACK  (48u << 10) /* bytes of a sample */
#define STACKS_MOST_RECORD (STACKS_MOST_STACK + 4096 + 256)

struct stacks_header {
    char magic[8];    /* STACKS_MAGIC, no terminating zero */
    uint32_t version; /* STACKS_VERSION */
    uint32_t pid;     /* that of the trace, which says whose stacks these are */
    uint64_t created_ns; /* that of the trace */
    uint32_t period_ns;  /* processor time that a sample stands for */
    uint32_t user_only;  /* 1: the kernel was not to be sampled */
    uint64_t taken;      /* samples in the file */
    uint64_t lost;       /* taken by the kernel, and not kept */
    uint64_t reserved[2];
};

enum stacks_kind {
    STACKS_MAP = 1,
    STACKS_SAMPLE = 2,
};

/* In DWARF's order, as unwinders want them. */
enum stacks_register {
    STACKS_RBP = 6,
    STACKS_RSP = 7,
    STACKS_RIP = 16,
    STACKS_REGISTERS = 17,
};

#define STACKS_IN_KERNEL 1u /* flags: it was executing a system call, or a fault */

struct stacks_record {
    uint32_t kind; /* enum stacks_kind */
    uint32_t size; /* bytes, this head included; a multiple of 8 */
};

struct stacks_map {
    struct stacks_record head;
    uint64_t address, length;
    uint64_t offset; /* in the file */
    uint32_t build_id_size;
    uint8_t build_id[20]; /* zeros if it is not known */
    char path[];
};

struct stacks_sample {
    struct stacks_record head;
    uint32_t tid;
    uint32_t flags;
    uint64_t time; /* ns, of the clock that the trace's ticks are of */
    uint64_t registers[STACKS_REGISTERS];
    uint32_t low, kept, high; /* bytes */
    uint32_t reserved;
};

_Static_assert(sizeof(struct stacks_header) == 64, "stacks header");
_Static_assert(sizeof(struct stacks_map) == 56, "map");
_Static_assert(sizeof(struct stacks_sample) == 176, "sample");

#endif
