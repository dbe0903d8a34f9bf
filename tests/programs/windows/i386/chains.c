/*
 * Structured exceptions of i386: handlers in a chain that begins at fs:[0], each frame's as compilers make them, but by
 * hand. A fault or a raised exception in the innermost of FRAMES frames is handled some frames above, by longjmp, or the
 * program goes on where it was; on four threads at once.
 */
#include <setjmp.h>
#include <stdio.h>
#include <windows.h>

#define COUNTED __attribute__((noinline))
#define FRAMES  10
#define ROUNDS  500
#define THREADS 4
#define OURS    0xe0001234

struct tally {
    long handled, ended, continued, passed_on;
};

/* Begins as the system has it. */
struct frame {
    struct frame *above;
    EXCEPTION_DISPOSITION (*handler)(EXCEPTION_RECORD *, struct frame *, CONTEXT *, void *);
    struct tally *tally;
    DWORD expected;
    jmp_buf target;
};

static inline void begin(struct frame *frame)
{
    __asm__ volatile("mov %%fs:0, %0" : "=r"(frame->above));
    __asm__ volatile("mov %0, %%fs:0" : : "r"(frame) : "memory");
}

static inline void end(const struct frame *frame)
{
    __asm__ volatile("mov %0, %%fs:0" : : "r"(frame->above) : "memory");
}

COUNTED static int read_at(volatile int *place)
{
    return *place + 1;
}

COUNTED static int divide(volatile int a, volatile int b)
{
    return a / b + 1;
}

/* Calls hooked functions while the exception is being dispatched. */
COUNTED static int judge(struct frame *frame, DWORD code)
{
    volatile int here = 41;

    return read_at(&here) == 42 && code == frame->expected;
}

static EXCEPTION_DISPOSITION handle(EXCEPTION_RECORD *record, struct frame *frame, CONTEXT *context, void *unused)
{
    (void)context, (void)unused;
    if (record->ExceptionFlags & (EXCEPTION_UNWINDING | EXCEPTION_EXIT_UNWIND))
        return ExceptionContinueSearch;
    if (judge(frame, record->ExceptionCode))
        longjmp(frame->target, 1);
    frame->tally->passed_on++;
    return ExceptionContinueSearch;
}

/* Of a frame that is about to end by an exception. */
static EXCEPTION_DISPOSITION clean_up(EXCEPTION_RECORD *record, struct frame *frame, CONTEXT *context, void *unused)
{
    (void)context, (void)unused;
    if (record->ExceptionFlags & (EXCEPTION_UNWINDING | EXCEPTION_EXIT_UNWIND) && judge(frame, frame->expected))
        frame->tally->ended++;
    return ExceptionContinueSearch;
}

static EXCEPTION_DISPOSITION go_on(EXCEPTION_RECORD *record, struct frame *frame, CONTEXT *context, void *unused)
{
    (void)context, (void)unused;
    if (!judge(frame, record->ExceptionCode))
        return ExceptionContinueSearch;
    frame->tally->continued++;
    return ExceptionContinueExecution;
}

COUNTED static int descend(struct tally *tally, int depth, DWORD code)
{
    struct frame frame = {.handler = clean_up, .tally = tally};
    int result;

    begin(&frame);
    if (depth)
        result = descend(tally, depth - 1, code) + 1;
    else if (code == EXCEPTION_ACCESS_VIOLATION)
        result = read_at(0);
    else if (code == EXCEPTION_INT_DIVIDE_BY_ZERO)
        result = divide(1, 0);
    else
        RaiseException(code, 0, 0, 0), result = 1;
    end(&frame);
    return result;
}

COUNTED static void handled(struct tally *tally, DWORD code, DWORD expected)
{
    struct frame frame = {.handler = handle, .tally = tally, .expected = expected};

    begin(&frame);
    if (setjmp(frame.target))
        tally->handled++;
    else
        descend(tally, FRAMES, code);
    end(&frame);
}

/* The nearest handler leaves it to one above. */
COUNTED static void passed_on(struct tally *tally)
{
    struct frame frame = {.handler = handle, .tally = tally, .expected = OURS};

    begin(&frame);
    if (setjmp(frame.target))
        tally->handled++;
    else
        handled(tally, OURS, OURS + 1);
    end(&frame);
}

COUNTED static int continued(struct tally *tally)
{
    struct frame frame = {.handler = go_on, .tally = tally, .expected = OURS};
    int result;

    begin(&frame);
    result = descend(tally, FRAMES, OURS);
    end(&frame);
    return result;
}

static DWORD WINAPI rounds(void *name)
{
    struct tally tally = {0};
    long sum = 0;

    for (int round = 0; round < ROUNDS; round++) {
        SetLastError(1234);
        handled(&tally, EXCEPTION_ACCESS_VIOLATION, EXCEPTION_ACCESS_VIOLATION);
        handled(&tally, EXCEPTION_INT_DIVIDE_BY_ZERO, EXCEPTION_INT_DIVIDE_BY_ZERO);
        passed_on(&tally);
        sum += continued(&tally);
    }
    printf("%s: handled %ld, ended %ld, continued %ld, passed on %ld, sum %ld\n", (const char *)name, tally.handled,
           tally.ended, tally.continued, tally.passed_on, sum);
    return 0;
}

int main(void)
{
    HANDLE threads[THREADS];

    rounds("one thread");
    for (int i = 0; i < THREADS; i++)
        threads[i] = CreateThread(0, 0, rounds, "one of four", 0, 0);
    WaitForMultipleObjects(THREADS, threads, TRUE, INFINITE);
    return 0;
}
