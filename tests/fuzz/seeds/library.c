/* A library with what shapes an image: calls, tables, pointers, data, a cold part, a loop. */
extern int abs(int);
extern int puts(const char *);

static int state;

int looped(int count)
{
    int sum = 0;

    while (count-- > 0)
        sum += abs(count) + state;
    return sum;
}

int switched(int number)
{
    switch (number) {
    case 0:
        return puts("zero");
    case 1:
        return looped(3);
    case 2:
        return looped(5) + puts("two");
    case 3:
        return state++;
    case 4:
        return abs(number) + puts("four");
    case 5:
        return looped(number) * 7;
    default:
        return -1;
    }
}

static int first(int number)
{
    return looped(number) + 1;
}
static int second(int number)
{
    return switched(number) + 2;
}

int (*const table[])(int) = {first, second, looped, switched};

__attribute__((constructor)) static void begin(void)
{
    state = table[state & 3](state);
}

int tail(int number)
{
    if (__builtin_expect(number == 42, 0)) {
        puts("cold");
        __builtin_trap();
    }
    return table[number & 3](number);
}
