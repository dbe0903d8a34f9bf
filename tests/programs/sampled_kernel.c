/*
 * Computes, calls the kernel and faults on pages by turns, a few ms each, for as many ms of
 * processor time as the argument says of each. Prints for how long each did.
 */
#include "computing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

ALONE static void computing(long long ns)
{
    for (long long end = now() + ns; now() < end;)
        for (long i = 0; i < 20000; i++)
            sink = sink * 3 + i;
}

ALONE static void reading(long long ns)
{
    static char buffer[1 << 17];
    static FILE *zero;

    if (!zero) {
        zero = fopen("/dev/zero", "r");
        setvbuf(zero, NULL, _IONBF, 0);
    }
    for (long long end = now() + ns; now() < end;)
        sink += (long)fread(buffer, 1, sizeof buffer, zero);
}

ALONE static void faulting(long long ns)
{
    const size_t size = 1 << 18;

    for (long long end = now() + ns; now() < end;) {
        char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        for (size_t i = 0; i < size; i += 4096)
            pages[i] = 1;
        munmap(pages, size);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(long long ns);
    } phases[] = {{"computing", computing}, {"reading", reading}, {"faulting", faulting}};
    long long took[3] = {0};
    long ms = argc > 1 ? atol(argv[1]) : 300;

    for (long done = 0; done < ms; done += 3)
        for (int i = 0; i < 3; i++) {
            long long begin = now();

            phases[i].run(3000000);
            took[i] += now() - begin;
        }
    for (int i = 0; i < 3; i++)
        printf("%s %lld\n", phases[i].name, took[i]);
    return 0;
}
