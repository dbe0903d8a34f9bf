// A program to attach to: threads that throw, jump, make threads and processes, and run coroutines that are amid
// their calls for long, while signals come all the time.
// It says its number; ends on SIGTERM; and has done everything right if the figures that it prints agree. With
// "idle" it does a known number of calls each time that SIGUSR1 comes, and nothing in between.
#include <asm/prctl.h>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

static std::atomic<bool> stop;
static std::atomic<unsigned> turns;
static std::atomic<unsigned long> rounds, caught, landed, children, made, signals;
static thread_local jmp_buf landing;

#define NOT_INLINED __attribute__((noinline))

NOT_INLINED void throws(int depth)
{
    if (depth == 0)
        throw std::runtime_error("thrown " + std::to_string(depth));
    throws(depth - 1);
    asm volatile("");
}

NOT_INLINED bool catches(int depth)
{
    try {
        throws(depth);
    } catch (const std::exception &thrown) {
        return !std::strcmp(thrown.what(), "thrown 0");
    }
    return false;
}

NOT_INLINED void jumps(int depth)
{
    if (depth == 0)
        longjmp(landing, 1);
    jumps(depth - 1);
    asm volatile("");
}

NOT_INLINED bool lands(int depth)
{
    if (setjmp(landing))
        return true;
    jumps(depth);
    return false;
}

NOT_INLINED int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

// Comes back from amid its calls each time that it is resumed; now and then it returns from them, and begins anew.
class Coroutine
{
    ucontext_t own, resumer;
    std::vector<char> stack = std::vector<char>(65536);
    unsigned long sum = 0;

    NOT_INLINED unsigned long descends(int depth)
    {
        unsigned long below;

        swapcontext(&own, &resumer);
        below = depth ? descends(depth - 1) : 1;
        swapcontext(&own, &resumer);
        return below + 1;
    }

    static void begin(unsigned high, unsigned low)
    {
        auto *self = reinterpret_cast<Coroutine *>((unsigned long)high << 32 | low);

        for (;;)
            self->sum = self->descends(20);
    }

public:
    Coroutine()
    {
        auto self = reinterpret_cast<unsigned long>(this);

        getcontext(&own);
        own.uc_stack.ss_sp = stack.data();
        own.uc_stack.ss_size = stack.size();
        makecontext(&own, reinterpret_cast<void (*)()>(begin), 2, (unsigned)(self >> 32), (unsigned)self);
    }

    bool resume()
    {
        swapcontext(&resumer, &own);
        return sum == 0 || sum == 22;
    }
};

static bool child_is_right()
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(fib(10) == 55 ? 0 : 1);
    while (waitpid(child, &status, 0) < 0)
        ;
    return status == 0;
}

static void work(int number)
{
    Coroutine coroutine;

    for (int k = number; !stop; k++) {
        rounds++;
        if (!coroutine.resume())
            std::abort();
        caught += catches(k % 7);
        landed += lands(k % 5);
        if (fib(10) != 55)
            std::abort();
        if (k % 128 == 0) {
            std::thread other([] { made += fib(10) == 55; });
            other.join();
        }
        if (k % 512 == 0)
            children += child_is_right();
    }
}

static int idle()
{
    unsigned done = 0;
    unsigned long gs = 0;

    while (!stop) {
        while (!stop && turns == done)
            usleep(1000);
        if (stop)
            break;
        for (int i = 0; i < 10; i++)
            fib(10); // 177 calls
        catches(3); // 5
        done++;
        syscall(SYS_arch_prctl, ARCH_GET_GS, &gs);
        std::printf("turn %u, gs %lx\n", done, gs);
        std::fflush(stdout);
    }
    return 0;
}

int main(int argc, char **)
{
    itimerval often = {{0, 100}, {0, 100}};
    std::vector<std::thread> threads;

    std::signal(SIGTERM, [](int) { stop = true; });
    std::signal(SIGUSR1, [](int) { turns++; });
    std::signal(SIGALRM, [](int) { signals++; });
    std::printf("%d\n", (int)getpid());
    std::fflush(stdout);
    if (argc > 1)
        return idle();
    setitimer(ITIMER_REAL, &often, nullptr);
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, 31 * i);
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%s, %s\n", rounds == caught && rounds == landed ? "all came back" : "lost some",
                made > 0 && children > 0 && signals > 0 ? "threads, processes and signals" : "nothing beside");
    return 0;
}
