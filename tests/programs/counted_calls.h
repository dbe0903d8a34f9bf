/* The calls that the programs of counted.h count. */
#ifndef UMBRA_TEST_COUNTED_CALLS_H
#define UMBRA_TEST_COUNTED_CALLS_H

#include "counted.h"
#include "program.h"

/* A call, counted before and behind; the compiler moves no store across the call. */
#define CALL(self, call)                                                                           \
    do {                                                                                           \
        __atomic_store_n(&(self)->begun, (self)->begun + 1, __ATOMIC_SEQ_CST);                     \
        call;                                                                                      \
        __atomic_store_n(&(self)->ended, (self)->ended + 1, __ATOMIC_SEQ_CST);                     \
    } while (0)

COUNTED void leaf(struct counted_thread *self)
{
    OPAQUE(self);
}

COUNTED void twice(struct counted_thread *self)
{
    CALL(self, leaf(self));
    CALL(self, leaf(self));
}

COUNTED void deeper(struct counted_thread *self, int depth)
{
    if (depth > 0)
        CALL(self, deeper(self, depth - 1));
    CALL(self, twice(self));
}

#endif
