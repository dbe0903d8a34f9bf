/*
 * A program that was dumped with its heap, as GCL's are: what it takes to be free lies from the end
 * of its data to the program break, where it was when it was dumped.
 */
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#define PAGE 4096ul

extern char end;

__attribute__((noinline)) static void fill(char *from, char *to)
{
    memset(from, 1, (size_t)(to - from));
}

int main(int count, char **arguments)
{
    char *heap = (char *)(((unsigned long)&end + PAGE - 1) / PAGE * PAGE);
    int before = personality(0xffffffff);

    (void)count;
    if (!(before & ADDR_NO_RANDOMIZE)) {
        personality((unsigned long)before | ADDR_NO_RANDOMIZE);
        execv("/proc/self/exe", arguments);
        return 99;
    }
    if (brk(heap + 4 * PAGE) < 0)
        return 99;
    fill(heap, heap + 4 * PAGE);
    puts("grown");
    return 0;
}
