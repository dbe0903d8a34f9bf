/*
 * Control as compilers shape it, for counts of instructions. Does what the arguments name, in their
 * order, and but for `alarms` the same every time.
 *
 *      loops N   switches N   labels N   direct N   tails N   pointers N   jumps N   recursion N
 *      signals N   alarms N   copies N   thread N   threads N   fork N
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline))

static volatile unsigned seed;

FUNCTION unsigned mix(unsigned value)
{
    return (value ^ value >> 7) * 2654435761u;
}

/* Two loops, one within the other, with ways out of both. */
FUNCTION unsigned loops(unsigned count)
{
    unsigned sum = seed;

    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = i; j; j /= 2) {
            if ((sum ^ j) % 11 == 3)
                continue;
            if ((sum & 255) == j)
                break;
            sum = sum * 31 + j;
            if (sum % 1000003 == 17)
                goto out;
        }
        if (i % 3 == 0)
            sum += mix(i);
    }
out:
    return sum;
}

FUNCTION unsigned step(unsigned kind, unsigned sum)
{
    switch (kind) {
    case 0:
        return sum + 1;
    case 1:
        return sum * 3;
    case 2:
        sum ^= sum >> 3; /* and what the next one does */
        __attribute__((fallthrough));
    case 3:
        return mix(sum);
    case 4:
        return sum % 7 ? sum : mix(sum + 4);
    case 5:
        for (unsigned i = 0; i < 3; i++)
            sum += mix(i);
        return sum;
    case 8:
        return sum << 1;
    default:
        return ~sum;
    }
}

FUNCTION unsigned switches(unsigned count)
{
    unsigned sum = seed;

    for (unsigned i = 0; i < count; i++)
        sum = step((sum ^ i) % 10, sum);
    return sum;
}

/* An interpreter whose instructions end in jumps to the next. */
FUNCTION unsigned labels(unsigned count)
{
    static const void *const table[] = {&&add, &&shift, &&call, &&loop};
    unsigned sum = seed + 1, left = count;

    goto *table[sum % 4];
add:
    sum += left;
    if (!left--)
        return sum;
    goto *table[(sum >> 2) % 4];
shift:
    sum = sum << 5 | sum >> 27;
    if (!left--)
        return sum;
    goto *table[(sum >> 3) % 4];
call:
    sum = mix(sum);
    if (!left--)
        return sum;
    goto *table[(sum >> 1) % 4];
loop:
    for (unsigned i = 0; i < sum % 5; i++)
        sum += i;
    if (!left--)
        return sum;
    goto *table[(sum >> 4) % 4];
}

FUNCTION unsigned tail_odd(unsigned left, unsigned sum);

FUNCTION unsigned tail_even(unsigned left, unsigned sum)
{
    return left ? tail_odd(left - 1, sum + left) : sum;
}

FUNCTION unsigned tail_odd(unsigned left, unsigned sum)
{
    if (!left)
        return sum;
    if (sum % 5 == 0)
        return mix(sum); /* a jump, too */
    return tail_even(left - 1, sum ^ left);
}

FUNCTION unsigned tails(unsigned count)
{
    unsigned sum = seed;

    for (unsigned i = 0; i < count; i++)
        sum += tail_even(i % 13, sum);
    return sum;
}

FUNCTION unsigned one_more(unsigned value)
{
    return value + 1;
}

FUNCTION unsigned halved(unsigned value)
{
    return value & 1 ? mix(value) : value / 2;
}

FUNCTION unsigned pointers(unsigned count)
{
    static unsigned (*volatile const functions[])(unsigned) = {one_more, halved, mix};
    unsigned sum = seed;

    for (unsigned i = 0; i < count; i++)
        sum = functions[(sum ^ i) % 3](sum);
    return sum;
}

FUNCTION void leave(jmp_buf place, unsigned depth)
{
    if (!depth)
        longjmp(place, 1);
    leave(place, depth - 1);
    seed = depth; /* no tail call */
}

FUNCTION unsigned jumps(unsigned count)
{
    volatile unsigned sum = seed, i;
    jmp_buf place;

    for (i = 0; i < count; i++) {
        sum += mix(i);
        if (!setjmp(place))
            leave(place, i % 6);
        sum += i;
    }
    return sum;
}

FUNCTION unsigned recursion(unsigned n)
{
    return n < 2 ? n : recursion(n - 1) + recursion(n - 2);
}

static volatile unsigned handled, handled_count;

FUNCTION void handle(int number)
{
    handled += mix((unsigned)number);
    handled_count++;
}

/* Signals of its own: they come within the call of raise(). */
FUNCTION unsigned signals(unsigned count)
{
    signal(SIGUSR1, handle);
    for (unsigned i = 0; i < count; i++)
        raise(SIGUSR1);
    return handled;
}

/* Signals between any two instructions: prints how many came. */
FUNCTION unsigned alarms(unsigned count)
{
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    unsigned before = handled_count, sum;

    signal(SIGPROF, handle);
    setitimer(ITIMER_PROF, &every, NULL);
    sum = loops(count);
    setitimer(ITIMER_PROF, &never, NULL);
    printf("%u handled\n", handled_count - before);
    return sum;
}

/* A repeating instruction, of a hundred rounds. */
FUNCTION unsigned copies(unsigned count)
{
    static char from[100], to[100];

    for (unsigned i = 0; i < count; i++) {
        void *source = from, *target = to;
        unsigned long rounds = sizeof(to);

        __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(rounds)::"memory");
    }
    return (unsigned)to[99];
}

FUNCTION unsigned direct(unsigned count)
{
    return labels(count) + 1;
}

FUNCTION void *in_thread(void *argument)
{
    unsigned count = *(unsigned *)argument;

    return (void *)(uintptr_t)(loops(count) ^ switches(count) ^ tails(count) ^ pointers(count) ^
                               jumps(count) ^ recursion(count % 20));
}

FUNCTION unsigned thread(unsigned count)
{
    return (unsigned)(uintptr_t)in_thread(&count);
}

FUNCTION unsigned threads(unsigned count)
{
    pthread_t all[4];
    uintptr_t sum = 0;

    for (unsigned i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, in_thread, &count);
    for (unsigned i = 0; i < 4; i++) {
        void *result;

        pthread_join(all[i], &result);
        sum += (uintptr_t)result;
    }
    return (unsigned)sum;
}

FUNCTION unsigned in_child(unsigned count)
{
    return loops(count) ^ switches(count);
}

/* Nothing before, which callgrind counts in both. */
FUNCTION unsigned forks(unsigned count)
{
    pid_t child = fork();
    int status = 0;
    unsigned sum;

    if (!child)
        exit((int)(in_child(count) & 63));
    sum = loops(count);
    waitpid(child, &status, 0);
    return sum + (unsigned)status;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        unsigned (*function)(unsigned);
    } all[] = {{"loops", loops},     {"switches", switches},   {"labels", labels},
               {"direct", direct},   {"tails", tails},         {"pointers", pointers},
               {"jumps", jumps},     {"recursion", recursion}, {"signals", signals},
               {"alarms", alarms},   {"copies", copies},       {"thread", thread},
               {"threads", threads}, {"fork", forks}};

    for (int i = 1; i + 1 < count; i += 2)
        for (size_t j = 0; j < sizeof(all) / sizeof(*all); j++)
            if (!strcmp(arguments[i], all[j].name))
                printf("%s %u\n", arguments[i], all[j].function((unsigned)atoi(arguments[i + 1])));
    return 0;
}
