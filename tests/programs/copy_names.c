/*
 * Asks dladdr for the function of each return address on the way down, by name, and dlsym for
 * functions by theirs: prints both. Built with -rdynamic, or as a library with main elsewhere.
 */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>

COUNTED void say_caller(void *return_address)
{
    Dl_info info;

    if (!dladdr((char *)return_address - 1, &info) || !info.dli_sname)
        printf("nobody\n");
    else
        printf("%s\n", info.dli_sname);
}

COUNTED void ask(void)
{
    say_caller(__builtin_return_address(0));
}

COUNTED long alpha(long n)
{
    ask();
    OPAQUE(n);
    return n + 1;
}

COUNTED long beta(long n)
{
    ask();
    n = alpha(n);
    ask();
    return n;
}

long gamma_rays(long n) __attribute__((alias("beta")));

int main(void)
{
    static const char *const names[] = {"alpha",      "beta", "gamma_rays", "main",
                                        "say_caller", "ask",  "nothing"};

    ask();
    beta(3);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dlsym(RTLD_DEFAULT, names[i]);
        Dl_info info;

        printf("%s: %s\n", names[i],
               address && dladdr(address, &info) && info.dli_saddr == address ? info.dli_sname
                                                                              : "-");
    }
    printf("%d\n", dlsym(RTLD_DEFAULT, "alpha") == (void *)alpha);
    return 0;
}
