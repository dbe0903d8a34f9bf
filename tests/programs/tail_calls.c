/*
 * Calls that are jumps: a million mutual ones, through a pointer, with arguments on the stack, at
 * the end of ordinary frames, and the last leg of a chain that a longjmp cuts.
 */
#include "program.h"

#include <setjmp.h>

COUNTED long odd(long n);

COUNTED long even(long n)
{
    if (n == 0)
        return 1;
    return odd(n - 1);
}

COUNTED long odd(long n)
{
    if (n == 0)
        return 0;
    return even(n - 1);
}

/* A state machine, each state of which jumps to the next one. */
struct machine {
    long left;
    long sum;
    long (*states[3])(struct machine *);
};

COUNTED long state_add(struct machine *machine)
{
    machine->sum += machine->left;
    return machine->states[--machine->left % 3](machine);
}

COUNTED long state_xor(struct machine *machine)
{
    machine->sum ^= machine->left;
    return machine->states[--machine->left % 3](machine);
}

COUNTED long state_end(struct machine *machine)
{
    if (machine->left <= 0)
        return machine->sum;
    return machine->states[1 + --machine->left % 2](machine);
}

/* The seventh and eighth argument lie on the stack, in the caller's frame. */
COUNTED long rotate_back(long n, long a, long b, long c, long d, long e, long f, long g);

COUNTED long rotate(long n, long a, long b, long c, long d, long e, long f, long g)
{
    if (n == 0)
        return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g;
    return rotate_back(n - 1, g, a, b, c, d, e, f);
}

COUNTED long rotate_back(long n, long a, long b, long c, long d, long e, long f, long g)
{
    return rotate(n, c, d, e, f, g, a, b);
}

COUNTED long frame_over_jumps(long depth)
{
    if (depth == 0)
        return even(100);
    long below = frame_over_jumps(depth - 1) + odd(depth);
    OPAQUE(below);
    return below;
}

static jmp_buf cut;

COUNTED long jump_once_more(long n);

COUNTED long jump_then_cut(long n)
{
    if (n == 0)
        longjmp(cut, 5);
    return jump_once_more(n);
}

COUNTED long jump_once_more(long n)
{
    return jump_then_cut(n - 1);
}

int main(void)
{
    struct machine machine = {.left = 300000, .states = {state_end, state_add, state_xor}};
    printf("even: %ld\n", even(1000000));
    printf("machine: %ld\n", state_add(&machine));
    printf("rotate: %ld\n", rotate(100000, 1, 2, 3, 4, 5, 6, 7));
    printf("frames: %ld\n", frame_over_jumps(100));
    for (volatile int round = 0; round < 100; round++)
        if (setjmp(cut) == 0)
            jump_then_cut(round);
    printf("cut\n");
    return 0;
}
