// Does the same work again each time that SIGUSR1 comes, and nothing in between but wait: whoever attaches to it
// then sees all calls of the work. It says its number, and each turn; ends on SIGTERM.
//
// The work is done once before, so that what is done at first alone (symbols, buffers) is no part of a turn.
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#define NOT_INLINED __attribute__((noinline))

static volatile std::sig_atomic_t stop, turns;
static jmp_buf landing;

NOT_INLINED int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

NOT_INLINED int by_value(const void *a, const void *b)
{
    int one = *static_cast<const int *>(a), other = *static_cast<const int *>(b);

    return (one > other) - (one < other);
}

NOT_INLINED int sorts(int count)
{
    std::vector<int> numbers(count);

    for (int i = 0; i < count; i++)
        numbers[i] = i * 7919 % 211;
    std::qsort(numbers.data(), numbers.size(), sizeof(int), by_value);
    return numbers[count / 2];
}

NOT_INLINED void throws(int depth)
{
    std::string local(40, 'x');

    if (depth == 0)
        throw std::runtime_error("thrown " + local);
    throws(depth - 1);
    asm volatile("");
}

NOT_INLINED int catches(int depth)
{
    try {
        throws(depth);
    } catch (const std::exception &thrown) {
        return (int)std::strlen(thrown.what());
    }
    return 0;
}

NOT_INLINED void jumps(int depth)
{
    if (depth == 0)
        longjmp(landing, 1);
    jumps(depth - 1);
    asm volatile("");
}

NOT_INLINED int lands(int depth)
{
    if (setjmp(landing))
        return depth;
    jumps(depth);
    return 0;
}

NOT_INLINED int odd(int n);

NOT_INLINED int even(int n)
{
    int below = n ? odd(n - 1) : 1;

    asm volatile("");
    return below;
}

NOT_INLINED int odd(int n)
{
    int below = n ? even(n - 1) : 0;

    asm volatile("");
    return below;
}

NOT_INLINED int prints(int number)
{
    char text[100];

    std::snprintf(text, sizeof(text), "%d %5.2f %s", number, number * 0.5, "text");
    return (int)std::strtol(text, nullptr, 10);
}

NOT_INLINED long work()
{
    long sum = 0;

    for (int i = 0; i < 20; i++) {
        sum += fib(10) + sorts(50 + i) + catches(i % 7) + lands(i % 5) + even(i) + prints(i);
        if (i % 5 == 0)
            sum += catches(lands(3));
    }
    return sum;
}

// So that it is not mistaken for what was done before.
NOT_INLINED long turn()
{
    long sum = work();

    asm volatile("");
    return sum;
}

int main()
{
    long expected = work();
    int done = 0;

    std::signal(SIGTERM, [](int) { stop = 1; });
    std::signal(SIGUSR1, [](int) { turns = turns + 1; });
    std::printf("%d\n", (int)getpid());
    std::fflush(stdout);
    while (!stop) {
        if (turns == done) {
            usleep(1000);
            continue;
        }
        done++;
        if (turn() != expected)
            std::abort();
        std::printf("turn %d\n", done);
        std::fflush(stdout);
    }
    return 0;
}
