#!/bin/bash
# Calls that copies count and that are not as usual do the same as natively.
. "$(dirname "$0")/lib.sh"

# both COMMAND…: natively and instrumented, alone and recorded.
both()
{
    local timing
    run native "$@"
    run instrumented "$@"
    compare_runs "$*"
    for timing in none adaptive exact; do
        rm -rf traces
        run instrumented "$BUILD/service/call_trace_service" start --timing=$timing --samples=0 \
            --slices=0 --trace-dir="$work/traces" -- "$@"
        compare_runs "$*, $timing"
        balanced
    done
}

# A coroutine, on a stack of its own, runs a function on the thread's stack. The frame of what
# changes stacks is known by rbp, and is on the other one.
cat >stacks.c <<'SOURCE'
#include <stdio.h>
#include <sys/mman.h>

void on_stack(void (*function)(void), void *stack);
__asm__(".text\n .globl on_stack\n .type on_stack, @function\n"
        "on_stack: .cfi_startproc\n push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset 6, -16\n"
        "mov %rsp, %rbp\n .cfi_def_cfa_register 6\n mov %rsi, %rsp\n call *%rdi\n"
        "mov %rbp, %rsp\n pop %rbp\n .cfi_def_cfa 7, 8\n ret\n .cfi_endproc\n"
        ".size on_stack, . - on_stack\n");

static char *below;
static volatile int sum;

__attribute__((noipa)) static void add(int i) { sum += i; if (sum < 0) puts("negative"); }
__attribute__((noipa)) static void work(void) { for (int i = 0; i < 3; i++) add(i); }
__attribute__((noipa)) static void coroutine(void)
{
    for (int i = 0; i < 3; i++)
        on_stack(work, below);
    work();
}

int main(void)
{
    char *stack = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    below = (char *)(((unsigned long)__builtin_frame_address(0) - 8192) & ~15ul);
    for (int i = 0; i < 100; i++)
        on_stack(coroutine, stack + (1 << 20));
    printf("%d\n", sum);
}
SOURCE
build stacks "$work/stacks.c"
instrumented stacks --how=copy
both ./stacks

# A call by a pointer that finds thread-local storage keeps all registers but rax, r11 too.
cat >storage.c <<'SOURCE'
static __thread long own = 7;

long use(long *p, long a)
{
    register long kept __asm__("r11");

    __asm__ volatile("lea (%1, %1), %0" : "=r"(kept) : "r"(a));
    own += a;
    __asm__ volatile("" : "+r"(kept));
    return kept + own + p[0];
}
SOURCE
cat >user.c <<'SOURCE'
#include <stdio.h>

long use(long *p, long a);

int main(void)
{
    long sum = 0;

    for (long i = 0; i < 10; i++)
        sum += use(&i, i);
    printf("%ld\n", sum);
}
SOURCE
build libstorage.so "$work/storage.c" -shared -fPIC -mtls-dialect=gnu2
build user "$work/user.c" -Lnative -lstorage "-Wl,-rpath,\$ORIGIN"
instrumented libstorage.so --how=copy
instrumented user --how=copy
both ./user

# A call of what is no code, or of code that cannot be read, ends as natively: at that address.
cat >nowhere.c <<'SOURCE'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

static volatile int faults;

static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number;
    if (registers[REG_RIP] != (greg_t)info->si_addr)
        _Exit(99);
    faults++;
    registers[REG_RIP] = *(greg_t *)registers[REG_RSP];
    registers[REG_RSP] += 8;
    registers[REG_RAX] = 42;
}

typedef long function(long);
__attribute__((noipa)) static long real(long x) { if (x > 1000) puts("big"); return x + 1; }
static function *volatile table[4] = {real, 0, 0, real};

__attribute__((noipa)) static long all(long n)
{
    long sum = 0;

    for (long i = 0; i < n; i++)
        sum += table[i & 1](i) + table[2 | (i & 1)](i);
    return sum;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, 0);
    table[2] = (function *)mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%ld\n", all(10));
    printf("%d\n", faults);
}
SOURCE
build nowhere "$work/nowhere.c"
instrumented nowhere --how=copy
both ./nowhere

# Assembly gives flags to what it calls.
cat >flags.c <<'SOURCE'
#include <stdio.h>

long is_five(long x);
__asm__(".text\n .globl is_five\n .type is_five, @function\n"
        "is_five: .cfi_startproc\n sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n cmp $5, %rdi\n"
        "call zero_flag\n add $8, %rsp\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n"
        ".size is_five, . - is_five\n"
        ".globl zero_flag\n .type zero_flag, @function\n"
        "zero_flag: .cfi_startproc\n sete %al\n movzbl %al, %eax\n nop\n nop\n ret\n .cfi_endproc\n"
        ".size zero_flag, . - zero_flag\n");

int main(void)
{
    long sum = 0;

    for (long i = 0; i < 10; i++)
        sum += is_five(i) * i;
    printf("%ld\n", sum);
}
SOURCE
build flags "$work/flags.c"
instrumented flags --how=copy
both ./flags
