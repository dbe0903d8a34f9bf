/* 100,000 exceptions, each thrown ten frames below the handler that catches it. */
#include <cstdio>
#include <stdexcept>

__attribute__((noinline)) static long descend(int frames, long round)
{
    if (frames == 1)
        throw std::runtime_error("caught by what()");
    long below = descend(frames - 1, round);
    __asm__("" : "+r"(below));
    return below + 1;
}

int main()
{
    long caught = 0;
    for (long round = 0; round < 100000; round++) {
        try {
            descend(10, round);
        } catch (const std::exception &error) {
            caught += error.what()[0] == 'c';
        }
    }
    printf("%ld exceptions caught\n", caught);
    return 0;
}
