/*
 * Every general register, every xmm register and every arithmetic flag must pass a hook unchanged,
 * at entry and at exit, when a context is new (the hook's slow path) and when it is known. errno
 * must pass, too. DF is set only where the context is known: no ABI lets a function be called with
 * it set, but hand-written code does so, and the fast path has no reason to change it.
 */
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct registers {
    uint64_t general[15]; /* rax rbx rcx rdx rsi rdi rbp r8 … r15 */
    uint64_t flags;
    uint64_t xmm[32];
};

struct registers given, arrived, returned, came_back;
void registers_exchange(void);

enum {
    FLAG_C = 1 << 0,
    FLAG_P = 1 << 2,
    FLAG_A = 1 << 4,
    FLAG_Z = 1 << 6,
    FLAG_S = 1 << 7,
    FLAG_D = 1 << 10,
    FLAG_O = 1 << 11,
    FLAGS = FLAG_C | FLAG_P | FLAG_A | FLAG_Z | FLAG_S | FLAG_D | FLAG_O,
    FLAGS_ALWAYS = 1 << 9 | 1 << 1,
};

static const int arithmetic[] = {FLAG_C, FLAG_P, FLAG_A, FLAG_Z, FLAG_S, FLAG_O};
static uint64_t seed = 88172645463325252ull;
static long exchanges;

static uint64_t random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static void registers_fill(struct registers *registers, int combination, int direction)
{
    for (int i = 0; i < 15; i++)
        registers->general[i] = random_number();
    for (int i = 0; i < 32; i++)
        registers->xmm[i] = random_number();
    registers->flags = FLAGS_ALWAYS | direction;
    for (int i = 0; i < 6; i++)
        registers->flags |= combination >> i & 1 ? arithmetic[i] : 0;
}

static void registers_compare(const char *where, struct registers *was, struct registers *is)
{
    for (int i = 0; i < 15; i++)
        if (was->general[i] != is->general[i])
            printf("%s: general register %d changed\n", where, i);
    for (int i = 0; i < 32; i++)
        if (was->xmm[i] != is->xmm[i])
            printf("%s: xmm%d changed\n", where, i / 2);
    if ((was->flags ^ is->flags) & FLAGS)
        printf("%s: flags %lx became %lx\n", where, was->flags & FLAGS, is->flags & FLAGS);
}

static void exchange(int combination, int direction)
{
    registers_fill(&given, combination, direction);
    registers_fill(&returned, 63 - combination, direction);
    errno = combination + 1000;
    registers_exchange();
    REQUIRE(errno == combination + 1000);
    registers_compare("at entry", &given, &arrived);
    registers_compare("at exit", &returned, &came_back);
    exchanges++;
}

/* Each depth is a context of its own. */
COUNTED long exchange_below(int depth)
{
    for (int combination = 0; combination < 64; combination += 1 + 62 * (depth % 8 != 0))
        exchange((combination + depth) % 64, 0);
    exchange(depth % 64, FLAG_D);
    long below = depth == 0 ? 0 : exchange_below(depth - 1);
    OPAQUE(below);
    return below + 1;
}

static void *thread_main(void *argument)
{
    exchange_below(200);
    return argument;
}

int main(void)
{
    for (int round = 0; round < 3; round++)
        exchange_below(500);
    pthread_t thread;
    pthread_create(&thread, NULL, thread_main, NULL);
    pthread_join(thread, NULL);
    printf("%ld exchanges\n", exchanges);
    return 0;
}
