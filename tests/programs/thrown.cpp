/*
 * Exceptions: across frames with and without destructors, thrown again, through the C library's
 * frames, out of constructors, while others are under way, to another thread; and threads that
 * end by pthread_exit and by being cancelled, ten frames deep. Each frame that goes on makes calls.
 */
#include "program.h"

#include <exception>
#include <memory>
#include <stdexcept>

#include <pthread.h>

#define CALLED __attribute__((noinline))

static long sum;

CALLED static long note(long n)
{
    sum = sum * 3 + n;
    return sum & 7;
}

struct guard {
    long number;
    explicit guard(long number) : number(number)
    {
        note(number);
    }
    CALLED ~guard()
    {
        note(-number);
    }
};

/* Tells nobody of its destruction: frames that have no landing pad. */
CALLED static long throw_at(long depth)
{
    if (depth == 0)
        throw std::runtime_error("the end");
    long below = throw_at(depth - 1);
    return below + note(depth);
}

CALLED static long guarded(long depth)
{
    guard here(depth);
    if (depth == 0)
        return throw_at(3);
    if (depth == 4) {
        try {
            return guarded(depth - 1) + note(depth);
        } catch (const std::exception &) {
            note(100);
            throw;
        }
    }
    if (depth == 7) {
        try {
            return guarded(depth - 1) + note(depth);
        } catch (const std::exception &error) {
            note(200);
            throw std::logic_error("another one");
        }
    }
    return guarded(depth - 1) + note(depth);
}

CALLED static void catch_all(long rounds)
{
    for (long round = 0; round < rounds; round++) {
        try {
            guarded(round % 11);
        } catch (const std::logic_error &) {
            note(1);
        } catch (const std::runtime_error &) {
            note(2);
            try {
                throw_at(round % 5);
            } catch (...) {
                note(3);
            }
        }
        note(round);
    }
}

/* qsort has unwind information, so exceptions go through it. */
CALLED static int compare(const void *left, const void *right)
{
    guard here(5);
    if (note(0) == 3)
        throw_at(2);
    return *static_cast<const int *>(left) - *static_cast<const int *>(right);
}

CALLED static void sort(long rounds)
{
    for (long round = 0; round < rounds; round++) {
        int numbers[12];
        for (int i = 0; i < 12; i++)
            numbers[i] = static_cast<int>(note(i));
        try {
            qsort(numbers, 12, sizeof *numbers, compare);
            note(10);
        } catch (const std::exception &) {
            note(11);
        }
    }
}

struct member {
    guard first;
    std::unique_ptr<guard> second;
    CALLED explicit member(long number) : first(number), second(new guard(number + 1))
    {
        if (note(number) & 1)
            throw number;
        note(20);
    }
};

struct whole {
    member left, right;
    CALLED explicit whole(long number)
    try : left(number), right(number + 2) {
        note(30);
    } catch (long) {
        note(31);
    }
};

CALLED static void construct(long rounds)
{
    for (long round = 0; round < rounds; round++) {
        try {
            whole all(round);
            note(40);
        } catch (long number) {
            note(number);
        }
    }
}

/* Throws and catches while another exception unwinds its frame. */
struct busy {
    CALLED ~busy()
    {
        try {
            throw_at(4);
        } catch (const std::exception &) {
            note(std::uncaught_exceptions());
        }
    }
};

CALLED static void unwind_busily(long depth)
{
    busy here;
    if (depth)
        unwind_busily(depth - 1);
    else
        throw 7L;
    note(depth);
}

CALLED static void leave_loop(long rounds)
{
    for (long round = 0; round < rounds; round++) {
        for (long i = 0;; i++) {
            try {
                if (i > round % 5)
                    throw i;
                note(i);
            } catch (long number) {
                if (note(number) & 1)
                    break;
            }
        }
    }
}

CALLED static void end_thread(long depth)
{
    guard here(depth);
    if (depth == 0)
        pthread_exit(nullptr);
    end_thread(depth - 1);
    note(depth);
}

CALLED static void wait_for_end(long depth)
{
    guard here(depth);
    if (depth == 0) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    wait_for_end(depth - 1);
    note(depth);
}

static void *exiting(void *)
{
    end_thread(10);
    return nullptr;
}

static void *cancelled(void *)
{
    wait_for_end(10);
    return nullptr;
}

static std::exception_ptr carried;

static void *throwing(void *)
{
    try {
        guarded(9);
    } catch (...) {
        carried = std::current_exception();
        note(50);
    }
    return nullptr;
}

CALLED static void run(void *(*function)(void *))
{
    pthread_t thread;
    REQUIRE(pthread_create(&thread, nullptr, function, nullptr) == 0);
    pthread_join(thread, nullptr);
    note(60);
}

CALLED static void carry(void)
{
    run(throwing);
    try {
        std::rethrow_exception(carried);
    } catch (const std::exception &error) {
        printf("carried: %s\n", error.what());
    }
    note(61);
}

int main(int argc, char **)
{
    catch_all(60);
    sort(40);
    construct(40);
    try {
        unwind_busily(6);
    } catch (long number) {
        note(number);
    }
    leave_loop(30);
    run(exiting);
    run(cancelled);
    carry();
    printf("sum: %ld\n", sum);
    if (argc > 1)
        guarded(10); /* nobody catches it */
    return 0;
}
