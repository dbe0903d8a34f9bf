/* The thread's environment block, which gs points to. */
#ifndef UMBRA_THUNKSTASH_WINDOWS_TEB_WORDS_H
#define UMBRA_THUNKSTASH_WINDOWS_TEB_WORDS_H

#include <stdint.h>

#define TEB_STACK_BASE         0x08
#define TEB_PROCESS_ID         0x40
#define TEB_THREAD_ID          0x48
#define TEB_PROCESS            0x60   /* environment block of the process */
#define TEB_LAST_ERROR         0x68   /* 32 bits */
#define TEB_LAST_STATUS        0x1250 /* 32 bits */
#define TEB_DEALLOCATION_STACK 0x1478 /* low end of the stack's reservation */
#define TEB_TLS_SLOTS          0x1480
#define TEB_TLS_SLOT_COUNT     64

static inline uint64_t teb_read(uint64_t offset)
{
    uint64_t value;

    __asm__ volatile("movq %%gs:(%1), %0" : "=r"(value) : "r"(offset));
    return value;
}

static inline void teb_write(uint64_t offset, uint64_t value)
{
    __asm__ volatile("movq %0, %%gs:(%1)" : : "r"(value), "r"(offset) : "memory");
}

static inline uint32_t teb_read_32(uint64_t offset)
{
    uint32_t value;

    __asm__ volatile("movl %%gs:(%1), %0" : "=r"(value) : "r"(offset));
    return value;
}

static inline void teb_write_32(uint64_t offset, uint32_t value)
{
    __asm__ volatile("movl %0, %%gs:(%1)" : : "r"(value), "r"(offset) : "memory");
}

#endif
