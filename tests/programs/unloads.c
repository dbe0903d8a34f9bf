/*
 * Loads a library, calls into it, unloads it, and goes on in functions whose frames have words that
 * it has left on the stack: return addresses of code that is gone.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#ifdef LIBRARY
__attribute__((noinline)) static long deepest(long n)
{
    volatile long sum = n;

    for (int i = 0; i < 20000; i++)
        sum += i;
    return sum;
}

__attribute__((noinline)) static long deeper(long n)
{
    return n ? deeper(n - 1) + deepest(n) : 1;
}

long run(long n)
{
    return deeper(n) + 1;
}
#else
__attribute__((noinline)) static long leaf(long n)
{
    volatile long words[64]; /* what was there stays there */
    long sum = 0;

    for (int i = 0; i < 300000; i++)
        sum += i ^ n;
    words[n & 1] = sum;
    return words[n & 1];
}

__attribute__((noinline)) static long middle(long n)
{
    volatile long words[64];

    words[0] = leaf(n);
    return words[0] + leaf(n + 1);
}

int main(int count, char **arguments)
{
    long sum = 0;

    for (int i = 0; count == 2 && i < 300; i++) {
        void *library = dlopen(arguments[1], RTLD_NOW);
        long (*run)(long) = library ? (long (*)(long))dlsym(library, "run") : NULL;

        if (!run)
            return 1;
        sum += run(40);
        dlclose(library);
        sum += middle(i);
    }
    printf("%ld\n", sum);
    return 0;
}
#endif
