/* Loads two libraries in turn, so that one takes the other's place in memory, and calls each often. */
#include "program.h"

#include <dlfcn.h>

typedef long plugin_function(long value, long (*back)(long));

static long back(long value)
{
    return value;
}

COUNTED long run_often(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    long sum = 0;

    REQUIRE(library);
    plugin_function *run = (plugin_function *)dlsym(library, "plugin_run");
    for (int i = 0; i < 200; i++)
        sum += run(i, back);
    printf("%p\n", (void *)run);
    dlclose(library);
    return sum;
}

int main(int argc, char **argv)
{
    long sum = 0;

    REQUIRE(argc == 3);
    for (int i = 0; i < 10; i++)
        sum += run_often(argv[1 + i % 2]);
    fprintf(stderr, "%ld\n", sum);
    return 0;
}
