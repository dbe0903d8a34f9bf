/* A program that does something else in each run: two that run one after the other have no one pid. */
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noipa)) static void vary(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        sink += i;
}

__attribute__((noipa)) static void work(void)
{
#ifdef SECOND
    for (unsigned i = 0; i < 60000; i++)
#else
    for (unsigned i = 0; i < 50000; i++)
#endif
        sink += i;
}

int main(void)
{
    vary((unsigned)getpid());
    work();
    return 0;
}
