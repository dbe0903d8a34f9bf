/* How threads and processes end: see main. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))

static HANDLE ready;

COUNTED static int spin(volatile int *value)
{
    return *value + 1;
}

/* Ends its thread from ten frames deep. */
COUNTED static int leave(int depth)
{
    if (!depth)
        ExitThread(7);
    return leave(depth - 1) + 1;
}

COUNTED static int stay(int depth)
{
    volatile int value = 0;

    if (depth)
        return stay(depth - 1) + 1;
    for (;;) {
        value = spin(&value);
        SetEvent(ready);
    }
    return value;
}

static DWORD WINAPI leaving(void *unused)
{
    (void)unused;
    return (DWORD)leave(10);
}

static DWORD WINAPI staying(void *unused)
{
    (void)unused;
    return (DWORD)stay(10);
}

/* Its name is for the trace. */
static DWORD WINAPI named(void *unused)
{
    FARPROC describe = GetProcAddress(GetModuleHandleA("kernel32.dll"), "SetThreadDescription");

    (void)unused;
    ((HRESULT(WINAPI *)(HANDLE, const wchar_t *))(void *)describe)(GetCurrentThread(),
                                                                   L"n\x00e4me");
    spin((volatile int[]){1});
    return 0;
}

static DWORD WINAPI returning(void *unused)
{
    volatile int value = 5;

    (void)unused;
    return (DWORD)spin(&value);
}

static DWORD run(LPTHREAD_START_ROUTINE start)
{
    HANDLE thread = CreateThread(0, 0, start, 0, 0, 0);
    DWORD code = 0;

    WaitForSingleObject(thread, INFINITE);
    GetExitCodeThread(thread, &code);
    CloseHandle(thread);
    return code;
}

static HANDLE run_on(void)
{
    HANDLE thread;

    ResetEvent(
        ready); /* a thread is not to be terminated while it starts, under a lock of Windows */
    thread = CreateThread(0, 0, staying, 0, 0, 0);
    WaitForSingleObject(ready, INFINITE);
    return thread;
}

static DWORD WINAPI ending(void *unused)
{
    (void)unused;
    spin((volatile int[]){1});
    ExitProcess(5);
}

/* 300 threads, one after the other, in ways that alternate: all they held is given back. */
static void threads_end(void)
{
    DWORD sum = 0;

    for (int i = 0; i < 300; i++)
        sum += run(i % 2 ? leaving : returning);
    run(named);
    printf("codes %lu\n", sum);
}

/* Terminated where they are, maybe in a hook, maybe in a slow one. */
static void threads_terminated(void)
{
    for (int i = 0; i < 50; i++) {
        HANDLE thread = run_on();

        TerminateThread(thread, 3);
        WaitForSingleObject(thread, INFINITE);
        CloseHandle(thread);
        run(returning);
    }
    printf("terminated 50\n");
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";

    ready = CreateEventA(0, FALSE, FALSE, 0);
    if (!strcmp(how, "threads"))
        threads_end();
    if (!strcmp(how, "terminated"))
        threads_terminated();
    fflush(stdout);
    if (!strcmp(how, "exit")) {
        run_on();
        exit(4);
    }
    if (!strcmp(how, "exit-elsewhere")) {
        run_on();
        run(ending);
    }
    if (!strcmp(how, "terminate")) {
        run_on();
        TerminateProcess(GetCurrentProcess(), 6);
    }
    if (!strcmp(how, "crash"))
        spin(0);
    return 0;
}
