/*
 * Coroutines by swapcontext: generators that stand deep in a recursion while others run, on stacks
 * side by side in one block of the heap and in mappings of their own; carried to other threads;
 * given up half-way, with the next one on the same stack.
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_SIZE = 64 * 1024, ADJACENT = 8, MAPPED = 4, GENERATORS = ADJACENT + MAPPED };

struct generator {
    ucontext_t inside;
    ucontext_t outside;
    long depth;
    long value;
    int ended;
};

static void generator_yield(struct generator *self, long value)
{
    self->value = value;
    swapcontext(&self->inside, &self->outside);
}

/* Yields the 2^depth - 1 nodes of a binary tree in order. */
COUNTED void tree_walk(struct generator *self, long depth, long label)
{
    if (depth == 0)
        return;
    tree_walk(self, depth - 1, 2 * label);
    generator_yield(self, label);
    tree_walk(self, depth - 1, 2 * label + 1);
    OPAQUE(label);
}

static void generator_main(unsigned low, unsigned high)
{
    struct generator *self = (struct generator *)((unsigned long)high << 32 | low);
    tree_walk(self, self->depth, 1);
    self->ended = 1;
    swapcontext(&self->inside, &self->outside);
}

static void generator_begin(struct generator *self, void *stack, long depth)
{
    unsigned long address = (unsigned long)self;
    self->depth = depth;
    self->ended = 0;
    getcontext(&self->inside);
    self->inside.uc_stack.ss_sp = stack;
    self->inside.uc_stack.ss_size = STACK_SIZE;
    self->inside.uc_link = NULL;
    makecontext(&self->inside, (void (*)(void))generator_main, 2, (unsigned)address,
                (unsigned)(address >> 32));
}

COUNTED long generator_next(struct generator *self)
{
    swapcontext(&self->outside, &self->inside);
    return self->ended ? 0 : self->value;
}

static struct generator generators[GENERATORS];
static void *stacks[GENERATORS];

static void stacks_make(void)
{
    char *block = malloc(ADJACENT * STACK_SIZE);
    for (int i = 0; i < ADJACENT; i++)
        stacks[i] = block + i * STACK_SIZE;
    for (int i = ADJACENT; i < GENERATORS; i++)
        stacks[i] =
            mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* All generators in turn, in an order that never repeats, until each has ended. */
static void interleave(void)
{
    long sum = 0;
    int running = GENERATORS;
    for (int i = 0; i < GENERATORS; i++)
        generator_begin(&generators[i], stacks[i], 10);
    for (unsigned step = 1; running > 0; step = step * 1103515245 + 12345) {
        struct generator *next = &generators[(step >> 16) % GENERATORS];
        if (next->ended)
            continue;
        sum = sum * 3 + generator_next(next);
        running -= next->ended;
    }
    printf("interleaved: %ld\n", sum);
}

struct errand {
    struct generator *generator;
    long steps;
    long sum;
};

static void *errand_run(void *argument)
{
    struct errand *errand = argument;
    for (long i = 0; i < errand->steps && !errand->generator->ended; i++)
        errand->sum = errand->sum * 5 + generator_next(errand->generator);
    return NULL;
}

/* One generator, begun here, resumed by one thread after the other, ended here. */
static void carry(void)
{
    struct errand errand = {.generator = &generators[0], .steps = 7};
    generator_begin(errand.generator, stacks[0], 10);
    errand_run(&errand);
    while (!errand.generator->ended) {
        pthread_t thread;
        pthread_create(&thread, NULL, errand_run, &errand);
        pthread_join(thread, NULL);
        errand_run(&errand);
    }
    printf("carried: %ld\n", errand.sum);
}

/* Four threads, each with generators of its own begun by main. */
static void share(void)
{
    struct errand errands[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        generator_begin(&generators[i], stacks[i], 12);
        errands[i] = (struct errand){.generator = &generators[i], .steps = 100};
        errand_run(&errands[i]);
        errands[i].steps = 10000;
        pthread_create(&threads[i], NULL, errand_run, &errands[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        printf("shared: %ld\n", errands[i].sum);
    }
}

/* Every second one is left alive in its recursion, and its stack is taken by the next. */
static void abandon(void)
{
    long sum = 0;
    for (long round = 0; round < 5000; round++) {
        generator_begin(&generators[0], stacks[round % 2 ? 0 : ADJACENT], 3);
        long steps = round % 2 ? 3 : 100;
        for (long step = 0; step < steps && !generators[0].ended; step++)
            sum += generator_next(&generators[0]);
    }
    printf("abandoned: %ld\n", sum);
}

int main(void)
{
    stacks_make();
    interleave();
    carry();
    share();
    abandon();
    return 0;
}
