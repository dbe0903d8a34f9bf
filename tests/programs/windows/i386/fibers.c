/*
 * Fibers, as in ../fibers.cpp, without a compiler of C++: they are resumed in a scrambled order, leave frames by longjmp
 * within themselves, and some go on on another thread than they began on.
 */
#include <setjmp.h>
#include <stdio.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define FIBERS  20
#define STEPS   50
#define DEPTH   7

struct worker {
    void *fiber;
    void *back; /* who switched here */
    int number, steps_made, done;
    long sum, left;
    jmp_buf target;
};

static struct worker workers[FIBERS];

COUNTED static long pause_at(struct worker *self, int depth)
{
    if (depth > 0)
        return pause_at(self, depth - 1) + 1;
    SwitchToFiber(self->back);
    return 1;
}

COUNTED static long __stdcall fail(struct worker *self, int depth)
{
    long result = depth > 0 ? fail(self, depth - 1) + 1 : pause_at(self, 2);

    if (depth == 0 && self->number % 3 == 0)
        longjmp(self->target, 1);
    return result;
}

COUNTED static void one_step(struct worker *self)
{
    self->sum += pause_at(self, self->steps_made % DEPTH);
    if (setjmp(self->target))
        self->left++;
    else
        self->sum += fail(self, 3);
}

static void WINAPI start(void *given)
{
    struct worker *self = given;

    for (; self->steps_made < STEPS; self->steps_made++)
        one_step(self);
    self->done = 1;
    for (;;)
        SwitchToFiber(self->back);
}

COUNTED static void resume(struct worker *one)
{
    one->back = GetCurrentFiber();
    SwitchToFiber(one->fiber);
}

/* Rounds in which each is resumed once, in an order that changes. */
COUNTED static void run(int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < FIBERS; i++)
            resume(&workers[(i * 7 + round * 3) % FIBERS]);
}

static DWORD WINAPI elsewhere(void *unused)
{
    (void)unused;
    ConvertThreadToFiber(NULL);
    run(3 * STEPS);
    return 0;
}

int main(void)
{
    long sum = 0, left = 0, done = 0;
    HANDLE thread;

    ConvertThreadToFiber(NULL);
    for (int i = 0; i < FIBERS; i++) {
        workers[i].number = i;
        workers[i].fiber = CreateFiber(0, start, &workers[i]);
    }
    run(STEPS / 2);
    thread = CreateThread(NULL, 0, elsewhere, NULL, 0, NULL);
    WaitForSingleObject(thread, INFINITE);
    for (int i = 0; i < FIBERS; i++) {
        sum += workers[i].sum, left += workers[i].left, done += workers[i].done;
        DeleteFiber(workers[i].fiber);
    }
    printf("sum %ld, left %ld, done %ld\n", sum, left, done);
    return 0;
}
