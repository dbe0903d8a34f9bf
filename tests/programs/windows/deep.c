/* A recursion of 300,000 frames on a thread with a large stack, twice. */
#include <stdio.h>
#include <windows.h>

#define FRAMES 300000

__attribute__((noinline)) static int descend(volatile int depth)
{
    return depth ? descend(depth - 1) + 1 : 0;
}

static DWORD WINAPI start(void *unused)
{
    (void)unused;
    return (DWORD)(descend(FRAMES) + descend(FRAMES));
}

int main(void)
{
    HANDLE thread = CreateThread(0, 256 << 20, start, 0, STACK_SIZE_PARAM_IS_A_RESERVATION, 0);
    DWORD depth = 0;

    WaitForSingleObject(thread, INFINITE);
    GetExitCodeThread(thread, &depth);
    printf("%lu\n", depth);
    return 0;
}
