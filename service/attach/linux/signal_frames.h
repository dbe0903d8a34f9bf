/*
 * Stacks of threads that stand, word by word. Where a signal's handler runs, the kernel has put a frame there, with
 * the registers of what was interrupted:
 *
 *      word   0               1                6 … 20       21    22    23      24
 *             | return code   | flags, stack … | registers  | rsp | rip | flags | cs, 0, 0, ss |
 */
#ifndef UMBRA_SERVICE_SIGNAL_FRAMES_H
#define UMBRA_SERVICE_SIGNAL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "service/attach/linux/address_space.h"

struct signal_frame_word {
    uint64_t address, value;
    bool is_pointer; /* the rip of a signal frame */
};

/*
 * Calls see for each word from the red zone below the stack pointer to the end of what is mapped there; and so on
 * each stack that a signal frame was pushed from. memory: the process's /proc/PID/mem.
 */
bool signal_frames_each_word(int memory, const struct address_space *space, uint64_t stack_pointer,
                             void (*see)(void *with, const struct signal_frame_word *word), void *with);

#endif
