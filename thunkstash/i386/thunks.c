#include "thunkstash/i386/thunks.h"

#include <stddef.h>

#include "thunkstash/layout.h"
#include "thunkstash/record.h"

/* thunk_layout.h draws it; the words are addresses. */
struct __attribute__((packed)) thunk {
    uint8_t call[8];
    uint32_t body;
    uint8_t push[2];
    uint32_t ret;
    uint8_t load[2];
    uint32_t record;
    uint8_t jump[2];
    uint32_t exit_hook;
};

_Static_assert(offsetof(struct thunk, push) == THUNK_RETURN, "the call ends where the push begins");
_Static_assert(sizeof(struct thunk) <= THUNK_SIZE, "thunk");

static void write_thunk(char *block, uint32_t number)
{
    char *place = block + (uint64_t)number * THUNK_SIZE;
    const struct record *records = (const struct record *)(block + BLOCK_CODE_SIZE);
    const struct record *record = &records[number];

    *(struct thunk *)place = (struct thunk){
        .call = {0x58, 0x59, 0x8d, 0x64, 0x24, 0x04, 0xff, 0x15},
        .body = (uintptr_t)&record->body,
        .push = {0xff, 0x35},
        .ret = (uintptr_t)&record->ret,
        .load = {0x50, 0xb8},
        .record = (uintptr_t)record,
        .jump = {0xff, 0x25},
        .exit_hook = (uintptr_t)&records[0].body,
    };
}

void thunks_write(char *block)
{
    for (uint32_t i = 0; i < BLOCK_THUNKS; i++)
        write_thunk(block, i);
}
