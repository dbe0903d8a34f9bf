/*
 * Structured exceptions: hardware faults and raised ones, handled frames above, continued, passed
 * on, met in filters and in termination handlers; on four threads at once. Built by clang, which
 * has __try for mingw.
 */
#include <stdio.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define FRAMES  10
#define ROUNDS  500
#define THREADS 4
#define OURS    0xe0001234

struct tally {
    long handled, finally, continued, passed_on;
};

static DWORD WINAPI wrong(const char *what)
{
    printf("wrong: %s\n", what);
    return 1;
}

COUNTED static int read_at(volatile int *place)
{
    return *place + 1;
}

COUNTED static int divide(volatile int a, volatile int b)
{
    return a / b + 1;
}

/* Faults in the innermost of FRAMES frames. */
COUNTED static int descend(struct tally *tally, int depth, volatile int *place)
{
    int result = 0;

    __try {
        result = depth ? descend(tally, depth - 1, place) + 1 : read_at(place);
    } __finally {
        tally->finally++;
    }
    return result;
}

/* The filter is a function that calls hooked functions while the fault is being dispatched. */
COUNTED static int judge(struct tally *tally, DWORD code, DWORD expected)
{
    volatile int here = 41;

    if (read_at(&here) != 42)
        return EXCEPTION_CONTINUE_SEARCH;
    tally->passed_on += code != expected;
    return code == expected ? EXCEPTION_EXECUTE_HANDLER : EXCEPTION_CONTINUE_SEARCH;
}

COUNTED static void fault(struct tally *tally)
{
    __try {
        descend(tally, FRAMES, 0);
    } __except (judge(tally, GetExceptionCode(), EXCEPTION_ACCESS_VIOLATION)) {
        tally->handled++;
    }
}

COUNTED static void fault_in_division(struct tally *tally)
{
    __try {
        divide(1, 0);
    } __except (judge(tally, GetExceptionCode(), EXCEPTION_INT_DIVIDE_BY_ZERO)) {
        tally->handled++;
    }
}

/* The inner handler does not want it, the outer one does; and it is raised again from there. */
COUNTED static void raise_inside(struct tally *tally, int depth)
{
    __try {
        if (depth)
            raise_inside(tally, depth - 1);
        else
            RaiseException(OURS, 0, 0, 0);
    } __except (judge(tally, GetExceptionCode(), EXCEPTION_ACCESS_VIOLATION)) {
        wrong("handled by the wrong frame");
    }
}

COUNTED static void raise_twice(struct tally *tally)
{
    __try {
        __try {
            raise_inside(tally, 3);
        } __except (judge(tally, GetExceptionCode(), OURS)) {
            tally->handled++;
            RaiseException(OURS + 1, 0, 0, 0);
        }
    } __except (judge(tally, GetExceptionCode(), OURS + 1)) {
        tally->handled++;
    }
}

COUNTED static int go_on(struct tally *tally, EXCEPTION_POINTERS *exception)
{
    tally->continued++;
    return exception->ExceptionRecord->ExceptionCode == OURS ? EXCEPTION_CONTINUE_EXECUTION
                                                             : EXCEPTION_CONTINUE_SEARCH;
}

COUNTED static int raise_and_go_on(int value)
{
    RaiseException(OURS, 0, 0, 0);
    return value + 1;
}

COUNTED static void continued(struct tally *tally)
{
    __try {
        if (raise_and_go_on(7) != 8)
            wrong("continued elsewhere");
    } __except (go_on(tally, GetExceptionInformation())) {
        wrong("handled, should go on");
    }
}

static DWORD WINAPI rounds(void *name)
{
    struct tally tally = {0, 0, 0, 0};

    for (int round = 0; round < ROUNDS; round++) {
        fault(&tally);
        fault_in_division(&tally);
        raise_twice(&tally);
        continued(&tally);
    }
    printf("%s: handled %ld, finally %ld, continued %ld, passed on %ld\n", (const char *)name,
           tally.handled, tally.finally, tally.continued, tally.passed_on);
    return 0;
}

/* What GetLastError says survives a call, also the first one from a place. */
COUNTED static int first_call_here(int value)
{
    return value + 1;
}

static void last_error(void)
{
    SetLastError(1234);
    first_call_here(1);
    printf("last error %lu\n", GetLastError());
}

/* Its arguments and its result are in vector registers. */
COUNTED static double mix(double a, double b, float c, double d)
{
    return a + 10 * b + 100 * c + 1000 * d;
}

/* 3,000 contexts that are new: memory and room in the trace are asked for on the way. */
COUNTED static double sum(int depth, double a, double b)
{
    double rest = depth ? sum(depth - 1, a + 0.5, b * 1.0001) : 0;

    return rest + a - b / 3;
}

static void vectors(void)
{
    SetLastError(4321);
    printf("sum %.9g, ", sum(3000, 1, 2));
    printf("last error %lu\n", GetLastError());
    printf("vectors %g\n", mix(1, 2, 3, 4) + mix(5, 6, 7, 8));
}

COUNTED static int frames_seen(int depth)
{
    void *frames[62];

    return depth ? frames_seen(depth - 1) + 0 * first_call_here(depth)
                 : CaptureStackBackTrace(0, 62, frames, 0);
}

static void in_threads(LPTHREAD_START_ROUTINE start, void *name, int count)
{
    HANDLE threads[THREADS];

    for (int i = 0; i < count; i++)
        threads[i] = CreateThread(0, 0, start, name, 0, 0);
    WaitForMultipleObjects(count, threads, TRUE, INFINITE);
    for (int i = 0; i < count; i++)
        CloseHandle(threads[i]);
}

int main(void)
{
    last_error();
    vectors();
    rounds("one thread");
    in_threads(rounds, "one of four", THREADS);
    printf("ten calls more are seen: %d\n", frames_seen(12) - frames_seen(2) >= 10);
    return 0;
}
