// For what the grinder writes: two threads, a fork, templates whose names need escaping, recursion
// deeper than formats spell out. formats ROUNDS DEPTH
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace space {
template <class T> __attribute__((noinline)) T twice(T x)
{
    return x * 2;
}

__attribute__((noinline)) int leaf(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}

__attribute__((noinline)) int parse(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += leaf(20) + twice(i);
    return sum;
}

__attribute__((noinline)) int dive(int n)
{
    return leaf(n) + (n > 0 ? dive(n - 1) : 0);
}
} // namespace space

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 100, depth = argc > 2 ? std::atoi(argv[2]) : 10;
    std::thread other([=] { space::parse(2 * rounds); });

    space::parse(rounds);
    space::dive(depth);
    other.join();
    pid_t child = fork();
    if (!child) {
        space::parse(50);
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    return 0;
}
