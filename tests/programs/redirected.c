/* Calls functions of one byte in every way there is, and compares their addresses. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef void function(void);

HIDDEN function called, pointed_at, taken, by_short_branch, preceded;
function exported, jumps, begins_with_jump;
void branches(int);

function *pointers[] = {pointed_at, exported, preceded};
function *volatile seen;

static void *volatile address_of_taken;

__attribute__((noinline)) static function *take(void)
{
#ifdef __PIC__
    function *result;

    __asm__("lea taken(%%rip), %0" : "=r"(result));
    return result;
#else
    return taken;
#endif
}

int main(void)
{
    function *volatile *volatile all = pointers;
    uint32_t word;

    for (int i = 0; i < 10; i++) {
        called();
        jumps();
        begins_with_jump();
        all[0]();
        all[2]();
        take()();
        exported();
        branches(0);
    }
    address_of_taken = (void *)take();
    printf("taken %d\n", address_of_taken == (void *)taken);
    printf("pointed_at %d\n", all[0] == pointed_at);
    memcpy(&word, (const char *)all[2] - sizeof word, sizeof word);
    printf("preceded by %#x\n", word);
    printf("exported %d\n", all[1] == exported);
    return 0;
}
