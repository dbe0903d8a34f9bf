/*
 * Fibers: a thread's stack pointer and stack bounds change under it. They are resumed in a
 * scrambled order, throw and catch within themselves, are deleted half-way, and go on on another
 * thread than they began on.
 */
#include <cstdio>
#include <stdexcept>
#include <vector>
#include <windows.h>

#define COUNTED __attribute__((noinline))

static constexpr int fibers = 20, steps = 50, depth_of_each = 7;

struct worker {
    void *fiber;
    void *back; /* who switched here */
    int number, steps_made;
    long sum, caught;
    bool done;
};

COUNTED static long pause(worker &self, int depth)
{
    if (depth > 0)
        return pause(self, depth - 1) + 1;
    SwitchToFiber(self.back);
    return 1;
}

COUNTED static long fail(worker &self, int depth)
{
    long result = depth > 0 ? fail(self, depth - 1) + 1 : pause(self, 2);
    if (depth == 0 && self.number % 3 == 0)
        throw std::runtime_error("in a fiber");
    return result;
}

COUNTED static void work(worker &self)
{
    for (; self.steps_made < steps; self.steps_made++) {
        self.sum += pause(self, self.steps_made % depth_of_each);
        try {
            self.sum += fail(self, 3);
        } catch (const std::exception &) {
            self.caught++;
        }
    }
    self.done = true;
}

static void WINAPI start(void *given)
{
    auto &self = *static_cast<worker *>(given);

    work(self);
    for (;;)
        SwitchToFiber(self.back);
}

COUNTED static void resume(worker &one)
{
    one.back = GetCurrentFiber();
    SwitchToFiber(one.fiber);
}

static bool all_done(const std::vector<worker> &workers)
{
    for (auto &one : workers)
        if (!one.done)
            return false;
    return true;
}

/* Rounds in which each is resumed once, in an order that changes. */
COUNTED static void run(std::vector<worker> &workers, int rounds)
{
    for (int round = 0; round < rounds && !all_done(workers); round++)
        for (int i = 0; i < fibers; i++)
            resume(workers[static_cast<size_t>((i * 7 + round * 3) % fibers)]);
}

static std::vector<worker> make()
{
    std::vector<worker> workers(fibers);

    for (int i = 0; i < fibers; i++)
        workers[static_cast<size_t>(i)].number = i;
    for (auto &one : workers)
        one.fiber = CreateFiber(1 << 16, start, &one);
    return workers;
}

static void report(const char *what, const std::vector<worker> &workers)
{
    long sum = 0, caught = 0;
    int done = 0;

    for (auto &one : workers) {
        sum += one.sum;
        caught += one.caught;
        done += one.done;
    }
    std::printf("%s: sum %ld, caught %ld, done %d\n", what, sum, caught, done);
    std::fflush(stdout);
}

static DWORD WINAPI go_on(void *given)
{
    ConvertThreadToFiber(nullptr);
    run(*static_cast<std::vector<worker> *>(given), 1 << 20);
    return 0;
}

static void on_this_thread()
{
    auto workers = make();

    run(workers, 1 << 20);
    report("one thread", workers);
    for (auto &one : workers)
        DeleteFiber(one.fiber);
}

static void deleted_half_way()
{
    auto workers = make();

    run(workers, 5);
    report("deleted half-way", workers);
    for (auto &one : workers)
        DeleteFiber(one.fiber);
}

static void on_another_thread()
{
    auto workers = make();
    HANDLE thread;

    run(workers, 9);
    thread = CreateThread(nullptr, 0, go_on, &workers, 0, nullptr);
    WaitForSingleObject(thread, INFINITE);
    report("went on on another thread", workers);
}

int main()
{
    ConvertThreadToFiber(nullptr);
    on_this_thread();
    deleted_half_way();
    on_another_thread();
    return 0;
}
