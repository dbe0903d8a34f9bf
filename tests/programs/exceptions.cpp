/*
 * C++ exceptions through ten frames: caught by what(), thrown again half-way, thrown and caught
 * while another is being handled or unwound, carried to another thread, and all at once on four.
 * -DROUNDS=N: fewer of them.
 */
#include "program.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifndef ROUNDS
#define ROUNDS 1000
#endif

static constexpr int frames = 10;

struct tally {
    long caught = 0;
    long rethrown = 0;
    long destroyed = 0;
};

/* Counts its destruction; one that is armed throws and catches on its own meanwhile. */
struct guard {
    tally &counts;
    bool armed;
    ~guard();
};

/* Enters frames + 1 times, throws in the innermost. Odd rounds are thrown again half-way. */
COUNTED long descend(tally &counts, int depth, long round)
{
    guard here{counts, depth == 3};
    if (depth == 0)
        throw std::runtime_error("round " + std::to_string(round));
    if (depth != 5 || round % 2 == 0) {
        long result = descend(counts, depth - 1, round);
        OPAQUE(result);
        return result + 1;
    }
    try {
        long result = descend(counts, depth - 1, round);
        OPAQUE(result);
        return result + 2;
    } catch (const std::exception &) {
        counts.rethrown++;
        throw;
    }
}

COUNTED long throw_number(long number)
{
    OPAQUE(number);
    if (number >= 0)
        throw number;
    return number;
}

guard::~guard()
{
    counts.destroyed++;
    if (!armed)
        return;
    try {
        throw_number(counts.destroyed);
    } catch (long number) {
        REQUIRE(number == counts.destroyed);
    }
}

COUNTED void catch_rounds(tally &counts, long rounds)
{
    for (long round = 0; round < rounds; round++) {
        std::string expected = "round " + std::to_string(round);
        try {
            descend(counts, frames, round);
        } catch (const std::runtime_error &error) {
            REQUIRE(error.what() == expected);
            try {
                descend(counts, 2, round + 1);
            } catch (const std::exception &) {
                counts.caught++;
            }
            REQUIRE(error.what() == expected);
            counts.caught++;
        }
    }
}

COUNTED std::exception_ptr capture(tally &counts)
{
    try {
        descend(counts, frames, 7);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

static void throw_on_another_thread()
{
    tally counts;
    std::exception_ptr carried = capture(counts);
    std::thread([&] {
        try {
            std::rethrow_exception(carried);
        } catch (const std::exception &error) {
            printf("carried to another thread: %s\n", error.what());
        }
    }).join();
}

static void print(const char *name, const tally &counts)
{
    printf("%s: caught %ld, rethrown %ld, destroyed %ld\n", name, counts.caught, counts.rethrown,
           counts.destroyed);
}

/* No handler anywhere: the unwinder must find that out without unwinding. */
COUNTED void end_by_terminate()
{
    std::set_terminate([] {
        try {
            std::rethrow_exception(std::current_exception());
        } catch (const std::exception &error) {
            printf("terminate: %s\n", error.what());
        }
        fflush(stdout);
        abort();
    });
    tally counts;
    descend(counts, frames, 2);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "terminate") == 0)
        end_by_terminate();
    tally alone;
    catch_rounds(alone, ROUNDS);
    print("one thread", alone);

    tally counts[4];
    std::vector<std::thread> threads;
    for (tally &mine : counts)
        threads.emplace_back([&mine] { catch_rounds(mine, 2 * ROUNDS); });
    for (std::thread &thread : threads)
        thread.join();
    for (const tally &mine : counts)
        print("one of four threads", mine);
    throw_on_another_thread();
    return 0;
}
