/* A sampler: stops a thread that does nothing but call, wherever it is, in a hook, say, and walks
   its stack to where the thread began. Built by clang, which has __try for mingw. */
#include <stdio.h>
#include <windows.h>

#define SAMPLES 2000
#define FRAMES  200

static volatile int stop, total;

__attribute__((noinline)) static int fib(volatile int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static DWORD WINAPI work(void *unused)
{
    (void)unused;
    while (!stop)
        total += fib(12);
    return 0;
}

static BOOL is_within(DWORD64 address, void *function)
{
    DWORD64 base;
    RUNTIME_FUNCTION *entry = RtlLookupFunctionEntry((DWORD64)function, &base, 0);

    return entry && address - base >= entry->BeginAddress && address - base < entry->EndAddress;
}

__attribute__((noinline)) static void step(CONTEXT *context)
{
    DWORD64 base, frame;
    void *data;
    RUNTIME_FUNCTION *entry = RtlLookupFunctionEntry(context->Rip, &base, 0);

    if (entry) {
        RtlVirtualUnwind(0, base, context->Rip, entry, context, &data, &frame, 0);
        return;
    }
    context->Rip = *(volatile DWORD64 *)context->Rsp;
    context->Rsp += 8;
}

static BOOL leads_to_work(CONTEXT *context)
{
    BOOL found = FALSE;

    __try {
        for (int frames = 0; frames < FRAMES && context->Rip && !found; frames++) {
            found = is_within(context->Rip, (void *)work);
            step(context);
        }
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        found = FALSE;
    }
    return found;
}

static BOOL sample(HANDLE thread)
{
    CONTEXT context = {.ContextFlags = CONTEXT_FULL};
    BOOL found;

    SuspendThread(thread);
    GetThreadContext(thread, &context);
    found = leads_to_work(&context);
    ResumeThread(thread);
    return found;
}

int main(void)
{
    HANDLE thread = CreateThread(0, 0, work, 0, 0, 0);
    int found = 0;

    while (!total)
        Sleep(1);
    for (int i = 0; i < SAMPLES; i++) {
        found += sample(thread);
        for (volatile int pause = 0; pause < 1000 + i % 997; pause++)
            ;
    }
    stop = 1;
    WaitForSingleObject(thread, INFINITE);
    printf("%d of %d walks arrive\n", found, SAMPLES);
    return 0;
}
