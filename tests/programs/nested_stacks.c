/*
 * Stacks that lie within the thread's own stack, in arrays of functions: coroutines by swapcontext,
 * in main, in deeper frames, in a frame of another coroutine; stacks for signal handlers; each left
 * by a jump, too. Every function counts how often it was run.
 *
 *      nested_stacks WHAT      turns, deeper, inner, left, abandoned, handler, handler_left,
 *                              disarmed, thread
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

enum { STACK_SIZE = 16 * 1024, COROUTINES = 3 };

static long runs[8], sum;
enum { WALK, RESUME, YIELD, WORK, DESCEND, HANDLE, BEGIN, NESTED };
static const char *const names[] = {"walk",    "resume", "yield", "work",
                                    "descend", "handle", "begin", "nested"};

struct coroutine {
    ucontext_t inside, outside;
    long depth, value;
    int is_over;
};

COUNTED long work(long n)
{
    runs[WORK]++;
    OPAQUE(n);
    return n * 3 + 1;
}

COUNTED void yield(struct coroutine *self, long value)
{
    runs[YIELD]++;
    self->value = work(value);
    swapcontext(&self->inside, &self->outside);
    sum += self->value;
}

COUNTED void walk(struct coroutine *self, long depth, long label)
{
    runs[WALK]++;
    if (depth == 0)
        return;
    walk(self, depth - 1, 2 * label);
    yield(self, label);
    walk(self, depth - 1, 2 * label + 1);
    OPAQUE(label);
}

COUNTED void begin(unsigned low, unsigned high)
{
    struct coroutine *self = (struct coroutine *)((uintptr_t)high << 32 | low);

    runs[BEGIN]++;
    walk(self, self->depth, 1);
    self->is_over = 1;
}

static void prepare(struct coroutine *self, char *stack, long depth)
{
    uintptr_t address = (uintptr_t)self;

    memset(self, 0, sizeof *self);
    self->depth = depth;
    getcontext(&self->inside);
    self->inside.uc_stack.ss_sp = stack;
    self->inside.uc_stack.ss_size = STACK_SIZE;
    self->inside.uc_link = &self->outside;
    makecontext(&self->inside, (void (*)(void))begin, 2, (unsigned)address,
                (unsigned)(address >> 32));
}

COUNTED long resume(struct coroutine *self)
{
    long value;

    runs[RESUME]++;
    swapcontext(&self->outside, &self->inside);
    value = self->is_over ? 0 : work(self->value);
    OPAQUE(value);
    return value;
}

/* Deep enough to overwrite what lies below. */
COUNTED long descend(long depth)
{
    char room[200];
    char *at = room;
    long below;

    OPAQUE(at);
    runs[DESCEND]++;
    memset(at, (int)depth, sizeof room);
    below = depth ? descend(depth - 1) : 0;
    OPAQUE(below);
    return below + work(depth);
}

/* All of them in turn, in an order that does not repeat. */
static void take_turns(struct coroutine *all, char (*stacks)[STACK_SIZE], long depth)
{
    int running = COROUTINES;

    for (int i = 0; i < COROUTINES; i++)
        prepare(&all[i], stacks[i], depth);
    for (unsigned step = 1; running > 0; step = step * 1103515245 + 12345) {
        struct coroutine *next = &all[(step >> 16) % COROUTINES];

        if (next->is_over)
            continue;
        sum = sum * 3 + resume(next);
        if (step >> 20 & 1)
            sum += descend(step >> 24 & 31);
        running -= next->is_over;
    }
}

COUNTED void turns(void)
{
    char stacks[COROUTINES][STACK_SIZE];
    struct coroutine all[COROUTINES];

    take_turns(all, stacks, 6);
    take_turns(all, stacks, 5);
}

COUNTED long deeper(long depth)
{
    long below = depth ? deeper(depth - 1) : 0;

    turns();
    OPAQUE(below);
    return below + descend(3);
}

/* A coroutine has the others' stacks in its frame. */
COUNTED void nested(void)
{
    runs[NESTED]++;
    turns();
}

COUNTED void inner(void)
{
    char stack[8 * COROUTINES * STACK_SIZE];
    static ucontext_t inside, outside;

    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, nested, 0);
    swapcontext(&outside, &inside);
    sum += descend(20);
}

static jmp_buf out;
static struct coroutine leaving;

COUNTED void leave(void)
{
    sum += work(5);
    longjmp(out, 1);
}

COUNTED void leave_from(long depth)
{
    if (depth)
        leave_from(depth - 1);
    else
        leave();
    OPAQUE(depth);
}

static void leave_at_once(void)
{
    leave_from(7);
}

/* By longjmp to the frame that has the stack. */
COUNTED void left(void)
{
    char stack[STACK_SIZE];

    for (volatile int i = 0; i < 50; i++) {
        if (setjmp(out) == 0) {
            getcontext(&leaving.inside);
            leaving.inside.uc_stack.ss_sp = stack;
            leaving.inside.uc_stack.ss_size = sizeof stack;
            makecontext(&leaving.inside, leave_at_once, 0);
            swapcontext(&leaving.outside, &leaving.inside);
        }
        sum += work(descend(i % 7));
    }
}

COUNTED void abandoned(void)
{
    for (int i = 0; i < 50; i++) {
        char stack[STACK_SIZE];
        struct coroutine one;

        prepare(&one, stack, 4);
        for (int step = 0; step < i % 9; step++)
            sum += resume(&one);
        sum += descend(i % 5);
    }
}

static sigjmp_buf before;
static volatile int leaves;

COUNTED void handle(int signal)
{
    runs[HANDLE]++;
    sum += descend(signal % 4);
    if (leaves)
        siglongjmp(before, 1);
}

COUNTED long interrupted(long depth)
{
    long below;

    if (depth == 0) {
        raise(SIGUSR1);
        return work(1);
    }
    below = interrupted(depth - 1);
    OPAQUE(below);
    return below + work(depth);
}

static void handlers(unsigned flags)
{
    char stack[2 * STACK_SIZE];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack, .ss_flags = (int)flags};
    stack_t none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    REQUIRE(sigaltstack(&own, NULL) == 0);
    sigaction(SIGUSR1, &action, NULL);
    for (volatile int i = 0; i < 200; i++) {
        if (i % 3)
            raise(SIGUSR1);
        if (sigsetjmp(before, 1) == 0)
            sum += interrupted(i % 11);
        sum += descend(i % 5);
    }
    sigaltstack(&none, NULL);
}

COUNTED void handler(void)
{
    handlers(0);
}

COUNTED void handler_left(void)
{
    leaves = 1;
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(before, 1) == 0)
            handlers(0);
    leaves = 0;
}

COUNTED void disarmed(void)
{
    handlers(SS_AUTODISARM);
}

static void *in_thread(void *unused)
{
    (void)unused;
    turns();
    deeper(1);
    handler();
    left();
    return NULL;
}

COUNTED void thread(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, in_thread, NULL);
        pthread_join(threads[i], NULL);
    }
}

static void deeper_frames(void)
{
    deeper(3);
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {
    {"turns", turns},       {"deeper", deeper_frames},      {"inner", inner},
    {"left", left},         {"abandoned", abandoned},       {"handler", handler},
    {"disarmed", disarmed}, {"handler_left", handler_left}, {"thread", thread},
};

int main(int argc, char **argv)
{
    char stacks[COROUTINES][STACK_SIZE];
    struct coroutine all[COROUTINES];

    for (int i = 1; i < argc; i++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
            if (strcmp(argv[i], kinds[kind].name) == 0)
                kinds[kind].run();
    take_turns(all, stacks, 4);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        printf("%s %ld\n", names[i], runs[i]);
    printf("sum %ld\n", sum);
    return 0;
}
