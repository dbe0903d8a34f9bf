/*
 * Exceptions that libgcc unwinds by DWARF's tables, as those of C++ by gcc, in C: each of FRAMES frames is left, its
 * variable cleaned up by a function that is hooked, too; or the stack is walked, and all of it is found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <unwind.h>

#define COUNTED __attribute__((noinline))
#define FRAMES  10
#define ROUNDS  500

static jmp_buf target;
static long cleaned, landed, walked;
static void *bottom;

COUNTED static void clean_up(int *value)
{
    cleaned += *value;
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *exception, struct _Unwind_Context *context, void *unused)
{
    (void)version, (void)class, (void)exception, (void)unused;
    if (actions & _UA_END_OF_STACK)
        abort();
    if ((void *)_Unwind_GetCFA(context) > bottom)
        longjmp(target, 1);
    return _URC_NO_REASON;
}

static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    walked += (void *)_Unwind_GetCFA(context) < bottom;
    return _URC_NO_REASON;
}

COUNTED static int descend(int depth)
{
    static struct _Unwind_Exception exception;
    int value __attribute__((cleanup(clean_up))) = 1;

    if (depth > 0)
        return descend(depth - 1) + 1;
    if (depth == 0)
        _Unwind_Backtrace(count, NULL);
    else
        _Unwind_ForcedUnwind(&exception, stop, NULL);
    return value;
}

/* Ends by the exception. */
COUNTED static int descend_to_end(int depth)
{
    int value __attribute__((cleanup(clean_up))) = 1;

    return depth ? descend_to_end(depth - 1) + value : descend(-1);
}

COUNTED static void one_round(void)
{
    bottom = __builtin_frame_address(0);
    if (setjmp(target))
        landed++;
    else
        descend_to_end(FRAMES);
    descend(FRAMES);
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++)
        one_round();
    printf("cleaned %ld, landed %ld, walked %s\n", cleaned, landed, walked >= ROUNDS * FRAMES ? "all" : "less");
    return 0;
}
