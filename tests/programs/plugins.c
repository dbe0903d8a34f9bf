/*
 * Loads and unloads instrumented libraries: one again and again, two in turn so that one takes the
 * other's place in memory, and both at once; the library calls back into the program.
 */
#include "program.h"

#include <dlfcn.h>

typedef long plugin_function(long value, long (*back)(long));

COUNTED long back(long value)
{
    return value + 1;
}

COUNTED long run_once(const char *path, long value)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    REQUIRE(library);
    plugin_function *run = (plugin_function *)dlsym(library, "plugin_run");
    long result = run(value, back) + run(value + 1, back);
    dlclose(library);
    return result;
}

COUNTED long run_both(const char *first, const char *second, long value)
{
    void *keep = dlopen(first, RTLD_NOW);
    long result = run_once(second, value) + run_once(first, value);
    dlclose(keep);
    return result;
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    long sum = 0;
    for (long i = 0; i < 100; i++)
        sum += run_once(argv[1], i);
    printf("one: %ld\n", sum);
    for (long i = 0; i < 100; i++)
        sum += run_once(argv[1 + i % 2], i);
    printf("in turn: %ld\n", sum);
    for (long i = 0; i < 20; i++)
        sum += run_both(argv[1], argv[2], i);
    printf("both: %ld\n", sum);
    return 0;
}
