/*
 * Compares a trace with what its program counted in a file:
 *
 *      counted_compare TRACE COUNTERS HOW
 *
 * HOW says how the program ended. Prints how many calls were compared; exit status 1 if they
 * differ.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/campaigns/counted_trace.h"

int main(int count, char **arguments)
{
    struct counted_thread counted[COUNTED_THREADS];
    uint64_t calls = 0;
    FILE *file;
    bool same;

    if (count != 4) {
        fprintf(stderr, "counted_compare TRACE COUNTERS HOW\n");
        return 2;
    }
    file = fopen(arguments[2], "r");
    if (!file || fread(counted, sizeof(counted), 1, file) != 1) {
        perror(arguments[2]);
        return 2;
    }
    fclose(file);
    same = counted_trace_holds(arguments[1], counted, arguments[3], &calls);
    printf("%" PRIu64 "\n", calls);
    return same ? 0 : 1;
}
