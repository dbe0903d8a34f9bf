/*
 * Stacks of known depth. Each way to use one prints, to standard error, by how much the deepest
 * call's return address lies below that of the outermost one of its kind: `WHAT BYTES`.
 */
#define _GNU_SOURCE
#include "program.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { DEEP = 100000 };

/* The distance below the calling function's return address is the same in each: it keeps its frame
   pointer. */
#define FRAME ((char *)__builtin_frame_address(0))
#define USES(bytes)                                                                                \
    volatile char room[bytes];                                                                     \
    room[0] = 1

static char *outermost, *deepest;
static jmp_buf start;

COUNTED void bottom(void)
{
    deepest = FRAME;
    OPAQUE(deepest);
}

COUNTED long thousand(long depth)
{
    USES(1000);
    if (depth == 1)
        bottom();
    else
        thousand(depth - 1);
    return room[0] + depth;
}

COUNTED long more(long depth)
{
    USES(3000);
    if (depth == 1)
        thousand(2);
    else
        more(depth - 1);
    return room[0] + depth;
}

COUNTED void jump(void)
{
    longjmp(start, 1);
}

COUNTED long jumps(long depth)
{
    USES(500);
    if (depth == 1)
        jump();
    else
        jumps(depth - 1);
    return room[0] + depth;
}

COUNTED long descend(long depth)
{
    long below = depth == 0 ? 0 : descend(depth - 1);
    OPAQUE(below);
    return below + 1;
}

static void say(const char *what)
{
    fprintf(stderr, "%s %ld\n", what, (long)(outermost - deepest));
}

/* 10 levels, 40, 20; then 30 of another kind, which reach deeper. */
COUNTED void levels(void)
{
    outermost = FRAME;
    thousand(10);
    thousand(40);
    thousand(20);
    more(30);
    say("levels");
    deepest = 0;
    thousand(15);
}

COUNTED void *worker(void *argument)
{
    outermost = FRAME;
    thousand(50);
    say("worker");
    return argument;
}

/* What the longjmp leaves does not belong to the chain that comes after it. */
COUNTED void after_jump(void)
{
    outermost = FRAME;
    if (!setjmp(start))
        jumps(10);
    thousand(20);
    say("jump");
}

COUNTED void *deep(void *argument)
{
    descend(DEEP - 1);
    return argument;
}

COUNTED void handle(int signal)
{
    if (signal == SIGUSR1)
        thousand(60);
    else
        thousand(20);
}

/* A handler on a stack of its own, and one on the thread's. */
COUNTED void signals(void)
{
    static char stack[1 << 18];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    outermost = FRAME;
    thousand(5);
    REQUIRE(sigaltstack(&other, NULL) == 0);
    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_flags = 0;
    REQUIRE(sigaction(SIGUSR2, &action, NULL) == 0);
    raise(SIGUSR1);
    raise(SIGUSR2);
    say("signals");
}

COUNTED long left(long depth)
{
    USES(64);
    if (depth > 1)
        left(depth - 1);
    return room[0] + depth;
}

COUNTED long right(long depth)
{
    USES(80);
    if (depth > 1)
        right(depth - 1);
    return room[0] + depth;
}

/* Ever deeper, in two ways by turns, until it is killed. */
COUNTED void grow(void)
{
    puts("grows");
    fflush(stdout);
    for (long depth = 10;; depth = depth > 20000 ? depth : depth + 5) {
        left(depth * 7 / 6 + 3); /* its frames are smaller, by that */
        right(depth + 6);
    }
}

static void in_thread(void *(*run)(void *), size_t size)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    REQUIRE(pthread_create(&thread, &attributes, run, NULL) == 0);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (!strcmp(how, "levels")) {
        levels();
        in_thread(worker, 1 << 20);
    } else if (!strcmp(how, "jump")) {
        after_jump();
    } else if (!strcmp(how, "deep")) {
        in_thread(deep, 64 << 20);
    } else if (!strcmp(how, "signals")) {
        signals();
    } else if (!strcmp(how, "grow")) {
        grow();
    } else {
        return 99;
    }
    return 0;
}
