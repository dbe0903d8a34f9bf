/* A garbage collector that reads the table in front of a closure's code, as GHC's does. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION 14

extern const uint8_t *const entries_end[];
extern const uint64_t entries_count;

uint64_t run(const uint8_t *code, void *stack);

__attribute__((noinline)) static void check(const uint8_t *code)
{
    uint32_t type;

    memcpy(&type, code - 8, sizeof type);
    if (type != FUNCTION) {
        fprintf(stderr, "strange closure type %u\n", type);
        abort();
    }
}

__attribute__((noinline)) static uint64_t evaluate(const uint8_t *code)
{
    void *stack[4];

    check(code);
    return run(code, stack);
}

int main(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < 10; i++)
        for (uint64_t j = 1; j <= entries_count; j++)
            sum += evaluate(entries_end[-(int64_t)j]);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
