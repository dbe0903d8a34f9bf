/*
 * Steps through functions one instruction at a time; at each, the stack must unwind to the place
 * that called the function. What a debugger, a profiler or a fault in a prologue relies on.
 */
#include <stdio.h>
#include <string.h>
#include <windows.h>

#define TRAP_FLAG 0x100
#define DEPTH     16
#define STUB_SIZE 41 /* trace/image_manifest.h: from a stub to its body */

static volatile DWORD64 caller_low, caller_high; /* where the steps were begun from */
static volatile int is_stepping, wrong, reported, stubs;

int frames_push(int number);
int frames_far(int number);
int frames_pointer(int number);
int frames_call(int number);
int frames_leaf(int number);

static int unwinds_to_caller(CONTEXT context)
{
    for (int depth = 0; depth < DEPTH; depth++) {
        DWORD64 base, frame;
        void *data;
        RUNTIME_FUNCTION *entry;

        if (context.Rip >= caller_low && context.Rip < caller_high)
            return 1;
        entry = RtlLookupFunctionEntry(context.Rip, &base, NULL);
        if (entry) {
            RtlVirtualUnwind(0, base, context.Rip, entry, &context, &data, &frame, NULL);
        } else {
            context.Rip = *(DWORD64 *)context.Rsp;
            context.Rsp += 8;
        }
    }
    return 0;
}

/*
 * An exception overwrites what lies below the stack pointer, which a stub uses on its way to the
 * hook. A hook that passes through does no more than go on to the stub's body.
 */
static void skip_hook(CONTEXT *context)
{
    static const char stub[] = "\x48\x89\x4c\x24\xe8\x48\x8b\x0d";

    if (memcmp((void *)context->Rip, stub, sizeof stub - 1) != 0)
        return;
    context->Rip += STUB_SIZE;
    stubs++;
    if (!unwinds_to_caller(*context))
        wrong++;
}

static LONG WINAPI on_step(EXCEPTION_POINTERS *pointers)
{
    CONTEXT *context = pointers->ContextRecord;

    if (pointers->ExceptionRecord->ExceptionCode != EXCEPTION_SINGLE_STEP)
        return EXCEPTION_CONTINUE_SEARCH;
    if (!unwinds_to_caller(*context)) {
        wrong++;
        if (reported++ < 5)
            printf("at %p: does not unwind\n", (void *)context->Rip);
    }
    skip_hook(context);
    if (is_stepping)
        context->EFlags |= TRAP_FLAG;
    return EXCEPTION_CONTINUE_EXECUTION;
}

__attribute__((noinline)) static int stepped(int (*function)(int))
{
    int result;

    caller_low = (DWORD64)&stepped;
    caller_high = caller_low + 512;
    is_stepping = 1;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    result = function(3);
    is_stepping = 0;
    __asm__ volatile("nop; nop");
    return result;
}

int main(void)
{
    static int (*const functions[])(int) = {frames_push, frames_far, frames_pointer, frames_call,
                                            frames_leaf};

    AddVectoredExceptionHandler(1, on_step);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        printf("%d\n", stepped(functions[i]));
    printf("%d wrong\n", wrong);
    fprintf(stderr, "%d stubs\n", stubs);
    fflush(stdout);
    return wrong != 0;
}
