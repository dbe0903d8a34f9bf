/*
 * Exceptions through ten frames, thrown again, caught by type, with cleanups and specifications;
 * and the way out to _start from every instruction of the program, with
 *
 *      stepped     each one in turn, by the trap flag
 *      sampled     where a timer finds it, for 0.4 s
 *
 * It prints the same however it was instrumented.
 */
#include "program.h"

#include <cstdint>
#include <cstring>
#include <exception>
#include <link.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

static int frames = 10;

static struct {
    uintptr_t first, last;
} image;

static long cleanups, lost;
static volatile long walked;

enum { ENOUGH = 10 };

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *outermost)
{
    uintptr_t address = _Unwind_GetIP(context);

    if (address)
        *(uintptr_t *)outermost = address;
    return _URC_NO_REASON;
}

extern "C" char _start[];

/* What the unwinder itself, or libc, does on its way is theirs. */
static void walk(const ucontext_t *context)
{
    uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP], outermost = 0;

    if (at < image.first || at >= image.last)
        return;
    _Unwind_Backtrace(frame, &outermost);
    walked = walked + 1;
    if (outermost - (uintptr_t)_start > 64)
        lost++;
}

static int note_image(struct dl_phdr_info *info, size_t, void *)
{
    image.first = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &segment = info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment.p_vaddr, end = start + segment.p_memsz;

        if (segment.p_type != PT_LOAD)
            continue;
        image.first = start < image.first ? start : image.first;
        image.last = end > image.last ? end : image.last;
    }
    return 1; /* the program is the first */
}

static volatile sig_atomic_t is_stepping;

static constexpr greg_t trap_flag = 0x100;

static void on_signal(int number, siginfo_t *, void *given)
{
    ucontext_t *context = static_cast<ucontext_t *>(given);

    if (number == SIGUSR1) {
        context->uc_mcontext.gregs[REG_EFL] |= trap_flag;
        return;
    }
    walk(context);
    if (number == SIGTRAP && !is_stepping)
        context->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
}

static void handle(int number)
{
    struct sigaction action = {};

    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(number, &action, nullptr);
}

struct guard {
    long worth;
    ~guard()
    {
        cleanups += worth;
    }
};

struct base {
    virtual ~base() = default;
    virtual const char *name() const
    {
        return "base";
    }
};

struct derived : base {
    const char *name() const override
    {
        return "derived";
    }
};

/* Throws in the innermost of its frames; the fifth catches what is no exception and goes on. */
COUNTED long descend(long kind, int depth)
{
    guard here{depth};
    std::string text(static_cast<size_t>(20 + depth), 'x');

    if (depth == 0) {
        switch (kind) {
        case 0:
            throw std::runtime_error("round " + text);
        case 1:
            throw kind;
        case 2:
            throw derived();
        case 3:
            throw "text";
        default:
            return 1;
        }
    }
    try {
        long result = descend(kind, depth - 1);
        OPAQUE(result);
        return result + static_cast<long>(text.size());
    } catch (const char *thrown) {
        if (depth != 5)
            throw;
        return thrown[0];
    }
}

/* Keeps its locals by an aligned frame pointer, which rows give by expressions. */
COUNTED long aligned(long kind)
{
    alignas(64) volatile char space[128] = {};
    guard here{1000};

    space[kind] = 1;
    try {
        return descend(kind, frames) + space[kind];
    } catch (const std::logic_error &) {
        return -1;
    } catch (long number) {
        throw std::logic_error("from " + std::to_string(number));
    }
}

/* Catches by a base class, by type, and everything. */
COUNTED std::string caught(long kind)
{
    try {
        return std::to_string(aligned(kind));
    } catch (const std::logic_error &error) {
        return std::string("logic ") + error.what();
    } catch (const std::exception &error) {
        return std::string("exception ") + error.what();
    } catch (const base &thrown) {
        return thrown.name();
    }
}

#if __cplusplus < 201703L
static void on_unexpected()
{
    throw 2.5;
}

COUNTED void specified(long kind) throw(double, std::bad_exception)
{
    guard here{10000};

    descend(kind, 2);
}

COUNTED void check_specification()
{
    std::set_unexpected(on_unexpected);
    try {
        specified(1);
    } catch (double number) {
        printf("specified: %g\n", number);
    }
}
#else
static void check_specification()
{
    puts("specified: 2.5");
}
#endif

COUNTED void all_kinds(bool is_quiet)
{
    for (long kind = 0; kind < 5; kind++) {
        std::string text = caught(kind);

        if (!is_quiet)
            printf("%ld: %s\n", kind, text.c_str());
    }
}

static void step()
{
    handle(SIGTRAP);
    handle(SIGUSR1);
    is_stepping = 1;
    raise(SIGUSR1);
    frames = 2; /* steps are many in the unwinder, for each frame */
    caught(1);
    frames = 6; /* one above that which catches */
    caught(3);
    is_stepping = 0;
}

/* Takes time itself: where calls are recorded, they take most of it. */
COUNTED long spin(long turns)
{
    long sum = 0;

    for (long i = 0; i < turns; i++) {
        sum += i;
        OPAQUE(sum);
    }
    return sum;
}

static void sample()
{
    struct itimerval interval = {{0, 1000}, {0, 1000}};
    struct timeval begin, now;
    long elapsed;

    handle(SIGPROF);
    gettimeofday(&begin, nullptr);
    setitimer(ITIMER_PROF, &interval, nullptr);
    do {
        all_kinds(true);
        for (int i = 0; i < 1000; i++)
            caught(4); /* throws nothing */
        spin(300000);
        gettimeofday(&now, nullptr);
        elapsed = (now.tv_sec - begin.tv_sec) * 1000000 + now.tv_usec - begin.tv_usec;
    } while (elapsed < 400000 || (walked <= ENOUGH && elapsed < 60000000)); /* on a busy machine */
    interval = {};
    setitimer(ITIMER_PROF, &interval, nullptr);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    dl_iterate_phdr(note_image, nullptr);
    all_kinds(false);
    check_specification();
    printf("cleanups: %ld\n", cleanups);
    if (strcmp(mode, "stepped") == 0)
        step();
    else if (strcmp(mode, "sampled") == 0)
        sample();
    else
        return 0;
    printf("%s\n", walked > ENOUGH ? "walked" : "hardly walked");
    if (lost)
        printf("%ld of %ld without a way out\n", lost, walked);
    return lost != 0;
}
