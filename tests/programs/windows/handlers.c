/*
 * Structured exceptions: faults caught by the function's own handler and by a caller's, __finally,
 * longjmp. Built with clang, which knows __try; it guards calls only.
 */
#include <setjmp.h>
#include <stdio.h>
#include <windows.h>

static jmp_buf there;

/* guarded.S: -1 if the load faults */
int guarded_load(const int *from);
int guarded_load_late(const int *from);

__attribute__((noinline)) static int load(const int *from)
{
    return *(const volatile int *)from;
}

__attribute__((noinline)) static int guarded(const int *from)
{
    __try {
        return load(from);
    } __except (GetExceptionCode() == EXCEPTION_ACCESS_VIOLATION) {
        return -1;
    }
}

__attribute__((noinline)) static int deep(int depth, const int *from)
{
    volatile int room[4] = {0};

    room[depth & 3] = depth;
    if (depth == 0)
        return load(from) + room[0];
    return deep(depth - 1, from) + room[depth & 3];
}

static int filter(unsigned code)
{
    printf("filter %x\n", code);
    return EXCEPTION_EXECUTE_HANDLER;
}

__attribute__((noinline)) static int finally_then_except(const int *from)
{
    int result = 0;

    __try {
        __try {
            result = deep(5, from);
        } __finally {
            printf("finally %d\n", AbnormalTermination());
        }
    } __except (filter(GetExceptionCode())) {
        result = -2;
    }
    return result;
}

int main(void)
{
    const int five = 5;
    volatile int jumps;

    printf("own handler, call: %d %d\n", guarded(&five), guarded(NULL));
    printf("own handler, load: %d %d\n", guarded_load(&five), guarded_load(NULL));
    printf("behind the prologue: %d %d\n", guarded_load_late(&five), guarded_load_late(NULL));
    printf("callers: %d %d\n", finally_then_except(&five), finally_then_except(NULL));
    SetLastError(77);
    jumps = setjmp(there);
    if (jumps < 3) {
        printf("jump %d\n", jumps);
        longjmp(there, jumps + 1);
    }
    printf("last error %d\n", (int)GetLastError());
    fflush(stdout);
    return 3;
}
