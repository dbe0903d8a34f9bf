/* The thread's environment block, which fs points to. */
#ifndef UMBRA_THUNKSTASH_WINDOWS_TEB_WORDS_H
#define UMBRA_THUNKSTASH_WINDOWS_TEB_WORDS_H

#include <stdint.h>

#define TEB_STACK_BASE         0x04
#define TEB_PROCESS_ID         0x20
#define TEB_THREAD_ID          0x24
#define TEB_PROCESS            0x30 /* environment block of the process */
#define TEB_LAST_ERROR         0x34
#define TEB_LAST_STATUS        0xbf4
#define TEB_DEALLOCATION_STACK 0xe0c /* low end of the stack's reservation */
#define TEB_TLS_SLOTS          0xe10
#define TEB_TLS_SLOT_COUNT     64

static inline uint32_t teb_read(uint32_t offset)
{
    uint32_t value;

    __asm__ volatile("movl %%fs:(%1), %0" : "=r"(value) : "r"(offset));
    return value;
}

static inline void teb_write(uint32_t offset, uint32_t value)
{
    __asm__ volatile("movl %0, %%fs:(%1)" : : "r"(value), "r"(offset) : "memory");
}

static inline uint32_t teb_read_32(uint32_t offset)
{
    return teb_read(offset);
}

static inline void teb_write_32(uint32_t offset, uint32_t value)
{
    teb_write(offset, value);
}

#endif
