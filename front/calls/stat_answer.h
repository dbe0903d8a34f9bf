/*
 * What stat(2) and its kind write for a caller: of x86-64 struct stat; of i386 one of two, as arch/x86 of Linux has
 * them. Fields of 64 bits are aligned to 4 bytes there:
 *
 *      struct stat, 64 bytes                 struct stat64, 96 bytes
 *      +0   u32 device                       +0   u64 device, u32 of no use
 *      +4   u32 inode                        +12  u32 inode, its low half
 *      +8   u16 mode, links, user, group     +16  u32 mode, links, user, group
 *      +16  u32 device of a device file      +32  u64 device of a device file, u32 of no use
 *      +20  u32 size, block size, blocks     +44  i64 size, u32 block size, u64 blocks
 *      +32  u32 [3][2] times                 +64  u32 [3][2] times
 *      +56  u32 [2] of no use                +88  u64 inode
 */
#ifndef UMBRA_FRONT_STAT_ANSWER_H
#define UMBRA_FRONT_STAT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "front/calls/watched_calls.h"

struct stat_answer {
    union {
        struct stat own;
        uint8_t bytes[sizeof(struct stat)];
    };
    size_t size;
};

/* kind is CALL_STAT or CALL_STAT64. False: a field is too small for what it is to hold, EOVERFLOW. */
bool stat_answer_make(struct stat_answer *answer, const struct stat *status, enum call_world world,
                      enum call_kind kind);

#endif
