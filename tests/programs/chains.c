/*
 * Chains of calls: tail calls direct and through pointers, with pushed arguments, to other images
 * and out of callbacks; mutual and indirect recursion; calls from the cases of a switch, from a
 * computed goto, and from parts that are rarely run; functions that are chosen when the program
 * begins (IFUNC).
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define CALLED __attribute__((noinline))
#define RARELY(condition) __builtin_expect_with_probability(condition, 0, 0.9999)

static long sum;

CALLED static long note(long n)
{
    sum = sum * 3 + n;
    return sum & 15;
}

typedef long step(long n, long way);
static step first, second, third, around;
static step *const steps[] = {first, second, third, around};

CALLED static long first(long n, long way)
{
    note(n);
    return n ? second(n - 1, way) : way;
}

CALLED static long second(long n, long way)
{
    return n ? steps[(n + way) & 3](n - 1, way) : note(way);
}

CALLED static long third(long n, long way)
{
    long value = note(n);

    return n ? steps[value & 3](n - 1, way) : value;
}

/* Is in the middle of a chain, and has a frame. */
CALLED static long around(long n, long way)
{
    long value = n ? steps[way & 3](n - 1, way >> 2) : 1;

    OPAQUE(value);
    return n > 2 ? first(n / 3, value) : note(value);
}

/* Eight arguments: the last two are the caller's, on the stack. */
CALLED static long turn(long n, long a, long b, long c, long d, long e, long f, long g);

CALLED static long turn_back(long n, long a, long b, long c, long d, long e, long f, long g)
{
    return n > 0 ? turn(n - 1, note(b), c, d, e, f, g, a) : a;
}

CALLED static long turn(long n, long a, long b, long c, long d, long e, long f, long g)
{
    return turn_back(n, g, a, b, c, d, e, f);
}

CALLED static long jump_out(char *text)
{
    note(text[0]);
    return atol(text);
}

CALLED static void sort_numbers(int *numbers, size_t count, int (*compare)(const void *, const void *))
{
    note((long)count);
    qsort(numbers, count, sizeof *numbers, compare);
}

CALLED static int difference(int left, int right)
{
    note(left);
    return left - right;
}

CALLED static int compare(const void *left, const void *right)
{
    return difference(*(const int *)left, *(const int *)right);
}

CALLED static long choose(long n, long depth)
{
    switch (n & 15) {
    case 0: return note(1);
    case 1: return note(n) + note(2);
    case 2: return depth ? choose(n + 1, depth - 1) : 3;
    case 3: return depth ? note(choose(n / 2, depth - 1)) : note(4);
    case 4: sum++; /* and on */
    case 5: note(n);
    case 6: return first(n & 7, depth);
    case 7: return third(3, n);
    case 9: return depth ? choose(n * 7, depth - 1) + choose(n + 5, depth - 1) : 0;
    case 11: return choose(n + 2, depth) - note(5);
    case 12: return jump_out("12");
    case 13: break;
    case 14: return turn(n & 3, 1, 2, 3, 4, 5, 6, 7);
    default: return 9;
    }
    return depth > 0 ? choose(depth, depth - 1) : note(6);
}

CALLED static long interpret(const char *program)
{
    static const void *const labels[] = {&&add, &&call, &&jump, &&recurse, &&end};
    long value = 1;

#define NEXT goto *labels[*program++ - '0']
    NEXT;
add:
    value += note(value);
    NEXT;
call:
    value ^= choose(value, 3);
    NEXT;
jump:
    value = first(value & 3, value);
    NEXT;
recurse:
    value += interpret(program + 1);
    program++;
    NEXT;
end:
    return value;
}

__attribute__((cold, noinline)) static long complain(long n)
{
    note(n);
    return note(1000);
}

CALLED static long mostly(long n)
{
    long value = note(n);

    if (RARELY(n % 7 == 3)) {
        complain(n);
        value += note(value);
        if (n % 2)
            return complain(value);
        value ^= complain(n + 1);
    }
    return value + note(2);
}

static long chosen_one(long n)
{
    return note(n) + 1;
}

static long (*resolve(void))(long)
{
    return chosen_one;
}

long chosen(long n) __attribute__((ifunc("resolve")));

int main(void)
{
    for (long n = 0; n < 40; n++) {
        sum += first(n, n * 5) + around(n, n * 37) + turn(n, 1, 2, 3, 4, 5, 6, 7);
        sum += jump_out("345") + choose(n, 5) + mostly(n) + chosen(n);
    }
    for (int n = 0; n < 10; n++) {
        int numbers[] = {4, n, 9, 1, 7};

        sort_numbers(numbers, 5, compare);
        sum += numbers[2] + interpret("01201230124" + n % 3);
    }
    printf("sum: %ld\n", sum);
    return 0;
}
