// C++ exceptions on several threads at once, through destructors and rethrown; containers.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct counted {
    std::string name;
    static thread_local int destroyed;

    explicit counted(const char *text) : name(text)
    {
    }
    ~counted()
    {
        destroyed += !name.empty();
    }
};

thread_local int counted::destroyed = 0;

__attribute__((noinline)) static int thrower(int depth)
{
    counted here("x");

    if (depth == 0)
        throw std::runtime_error("deep");
    return thrower(depth - 1) + 1;
}

__attribute__((noinline)) static int rethrower(int depth)
{
    try {
        return thrower(depth);
    } catch (const std::logic_error &) {
        return 1;
    } catch (...) {
        throw;
    }
}

static int work(int limit)
{
    int caught = 0;

    for (int i = 0; i < 200; i++) {
        try {
            rethrower(i % limit);
        } catch (const std::exception &) {
            caught++;
            try {
                throw 5;
            } catch (int) {
                caught++;
            }
        }
    }
    return caught + counted::destroyed;
}

int main()
{
    std::vector<std::thread> threads;
    std::vector<int> results(4);
    std::map<std::string, int> sums;

    for (int i = 0; i < 4; i++)
        threads.emplace_back([&results, i] { results[i] = work(10 + i); });
    for (auto &thread : threads)
        thread.join();
    for (int result : results)
        printf("%d\n", result);
    for (int i = 0; i < 1000; i++)
        sums[std::to_string(i % 37)] += i;
    for (auto &pair : sums)
        printf("%s %d\n", pair.first.c_str(), pair.second);
    fflush(stdout);
    return 7;
}
