/*
 * Coroutines that stand in the middle of a recursion, and go on on another thread, or never; their
 * stacks lie side by side in the program's own memory, so that their order is always the same.
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <ucontext.h>

#define CALLED __attribute__((noinline))

enum { STACK_SIZE = 64 * 1024, COROUTINES = 6, ROUNDS = 40 };

struct coroutine {
    ucontext_t inside, *outside;
    long depth, value;
    int is_over;
};

static char stacks[COROUTINES][STACK_SIZE];
static struct coroutine all[COROUTINES];
static long sum;

CALLED static long note(long n)
{
    sum = sum * 3 + n;
    return sum & 15;
}

/* By way of a pointer each time: the thread, and so the place to go back to, may be another. */
CALLED static void yield(struct coroutine *self, long value)
{
    self->value = note(value);
    swapcontext(&self->inside, self->outside);
    note(value);
}

CALLED static long walk(struct coroutine *self, long depth, long label)
{
    if (depth == 0)
        return note(label);
    label += walk(self, depth - 1, 2 * label);
    yield(self, label);
    return walk(self, depth - 1, 2 * label + 1) + note(depth);
}

/* Ends in a call, so that its frame is there for all of it. */
CALLED static void begin(int number)
{
    struct coroutine *self = &all[number];

    walk(self, self->depth, 1);
    self->is_over = 1;
    for (;;)
        yield(self, 0);
}

CALLED static void prepare(int number, long depth)
{
    struct coroutine *self = &all[number];

    *self = (struct coroutine){.depth = depth};
    getcontext(&self->inside);
    self->inside.uc_stack.ss_sp = stacks[number];
    self->inside.uc_stack.ss_size = STACK_SIZE;
    makecontext(&self->inside, (void (*)(void))begin, 1, number);
}

CALLED static long resume(struct coroutine *self)
{
    ucontext_t here;

    self->outside = &here;
    swapcontext(&here, &self->inside);
    return note(self->value);
}

CALLED static long resume_deeply(struct coroutine *self, long depth)
{
    return depth ? resume_deeply(self, depth - 1) + note(depth) : resume(self);
}

/* Begins one anew now and then, wherever it stands. */
CALLED static void *run_round(void *of)
{
    long round = (long)of;

    for (int i = 0; i < COROUTINES; i++) {
        struct coroutine *self = &all[(round + i * 5) % COROUTINES];

        if (self->is_over || (round * 7 + i) % 31 == 0)
            prepare((int)(self - all), 2 + (round + i) % 4);
        resume_deeply(self, (round + i) % 3);
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < COROUTINES; i++)
        prepare(i, 3);
    for (long round = 0; round < ROUNDS; round++) {
        pthread_t thread;

        if (round % 4 == 3) {
            REQUIRE(pthread_create(&thread, NULL, run_round, (void *)round) == 0);
            pthread_join(thread, NULL);
        } else {
            run_round((void *)round);
        }
    }
    printf("sum: %ld\n", sum);
    return 0;
}
