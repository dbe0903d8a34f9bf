/* What code of 32 bits does with its stack: each calling convention, stacks that grow by a page and more, frames of
   another alignment, jumps out of frames, tables of cases and of functions, callbacks of the C library. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define KEEP __attribute__((noinline, noclone))

static int total;
static jmp_buf place;

static KEEP int __stdcall by_callee(int a, int b, int c)
{
    return a * 100 + b * 10 + c + total;
}

static KEEP int __fastcall in_registers(int a, int b, int c)
{
    return a - b * c + total;
}

static KEEP int __attribute__((thiscall)) of_this(int *self, int by)
{
    return *self += by;
}

static KEEP int __attribute__((regparm(3))) in_three(int a, int b, int c)
{
    return a ^ b << 4 ^ c << 8;
}

static KEEP int sum(int count, ...)
{
    va_list list;
    int all = 0;

    va_start(list, count);
    while (count--)
        all += va_arg(list, int);
    va_end(list);
    return all;
}

static KEEP double half(double number)
{
    return number / 2 + total;
}

static KEEP long long wide(long long a, long long b)
{
    return a * b / 7;
}

struct large {
    int items[9];
};

static KEEP struct large made(int first)
{
    struct large large;

    for (int i = 0; i < 9; i++)
        large.items[i] = first + i;
    return large;
}

static KEEP int with_large_frame(int number)
{
    volatile char room[20000];

    room[0] = (char)number;
    room[19999] = 1;
    return room[0] + room[19999];
}

static KEEP int with_any_frame(unsigned size)
{
    char *room = alloca(size);

    memset(room, 1, size);
    return room[size / 2] + (int)size;
}

static KEEP int aligned(int number)
{
    volatile int __attribute__((aligned(64))) cell = number;

    return (uintptr_t)&cell % 64 ? -1 : cell;
}

static KEEP int chosen(int number)
{
    switch (number) {
    case 0:
        return 4;
    case 1:
        return total;
    case 2:
        return sum(2, number, 9);
    case 3:
        return aligned(number);
    case 4:
        return -7;
    case 5:
        return chosen(2) + 1;
    default:
        return 0;
    }
}

static KEEP int twice(int number)
{
    return 2 * number;
}

static KEEP int thrice(int number)
{
    return 3 * number;
}

static int (*const table[])(int) = {twice, thrice, chosen, aligned};

static KEEP void leave(int number)
{
    if (number == 0)
        longjmp(place, 5);
    leave(number - 1);
}

static int __cdecl by_size(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static DWORD WINAPI in_thread(void *argument)
{
    return (DWORD)twice(*(int *)argument);
}

int main(void)
{
    int items[] = {5, 2, 9, 1}, self = 3, came;
    DWORD code = 0;
    HANDLE thread;

    total = 1;
    printf("%d %d %d %d\n", by_callee(1, 2, 3), in_registers(9, 2, 3), of_this(&self, 4),
           in_three(1, 2, 3));
    printf("%d %.2f %lld %d\n", sum(4, 1, 2, 3, 4), half(5), wide(1LL << 33, 21), made(2).items[8]);
    printf("%d %d %d\n", with_large_frame(3), with_any_frame(9000), aligned(6));
    for (int i = 0; i < 7; i++)
        printf("%d ", chosen(i));
    for (int i = 0; i < 4; i++)
        printf("%d ", table[i](i));
    came = setjmp(place);
    if (!came)
        leave(3);
    qsort(items, 4, sizeof(*items), by_size);
    printf("\n%d %d %d %d\n", came, items[0], items[2], items[3]);
    thread = CreateThread(NULL, 0, in_thread, &items[1], 0, NULL);
    WaitForSingleObject(thread, INFINITE);
    GetExitCodeThread(thread, &code);
    printf("%d\n", (int)code);
    fflush(stdout);
    return 3;
}
