/*
 * Runs a few functions one instruction at a time and unwinds the stack at each: in a stub, in the
 * middle of a displaced prologue or call, the way out to _start must be found as everywhere else.
 * Prints a result, which is the same however the program was instrumented, and what went wrong.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unwind.h>

#define TRAP_FLAG 0x100

extern char _start[];

/* glibc's memcpy of i386 pops registers without a word to unwinders: only the program itself, with
   its stubs, is looked at there. */
#ifdef __i386__
extern char __executable_start[];
#define OWN_SIZE (64u << 20)
#define IS_LOOKED_AT(registers)                                                                    \
    ((uintptr_t)(registers)[REG_EIP] - (uintptr_t)__executable_start < OWN_SIZE)
#else
#define IS_LOOKED_AT(registers) 1
#endif

static long looked, lost; /* instructions; those from which _start was not found */
static volatile int is_stepping;

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *outermost)
{
    uintptr_t address = _Unwind_GetIP(context);

    if (address)
        *(uintptr_t *)outermost = address;
    return _URC_NO_REASON;
}

static void on_step(int number, siginfo_t *info, void *context)
{
    uintptr_t outermost = 0, start = (uintptr_t)_start;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number;
    (void)info;
    if (IS_LOOKED_AT(registers)) {
        _Unwind_Backtrace(frame, &outermost);
        looked++;
        if (outermost < start || outermost > start + 64)
            lost++;
    }
    if (!is_stepping)
        registers[REG_EFL] &= ~TRAP_FLAG;
}

/* The trap that begins it: from the handler's return on, every instruction is one. */
static void on_begin(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static __attribute__((noinline)) int leaf(int number)
{
    return number * 3 + 1;
}

static __attribute__((noinline)) int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static __attribute__((noinline)) int sorted(int number, const int *addends)
{
    int values[8];

    for (int i = 0; i < 8; i++)
        values[i] = leaf(number + addends[i]);
    qsort(values, 8, sizeof(*values), compare);
    return values[0] + values[7];
}

static __attribute__((noinline)) int called_through(int (*function)(int), int number)
{
    int first = function(number);

    return first + function(first);
}

static __attribute__((noinline)) int call_first(int number)
{
    return leaf(number) + 1;
}

static __attribute__((noinline)) int deep(int number, const int *addends)
{
    if (number == 0)
        return sorted(1, addends);
    return deep(number - 1, addends) + leaf(number);
}

static void on(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

    sigaction(number, &action, NULL);
}

int main(void)
{
    static const int addends[8] = {5, 3, 8, 1, 9, 2, 7, 4};
    int result = 0;

    on(SIGTRAP, on_step);
    on(SIGUSR1, on_begin);
    is_stepping = 1;
    raise(SIGUSR1);
    for (int i = 0; i < 2; i++)
        result += sorted(i, addends) + called_through(leaf, i) + call_first(i) + deep(3, addends);
    is_stepping = 0;
    printf("%d\n", result);
    if (lost || !looked)
        printf("%ld instructions without a way out\n", lost);
    return lost || !looked ? 1 : 0;
}
