// What traces.lua calls.
__attribute__((noinline)) int twice(int n)
{
    return 2 * n;
}

int apply(int (*function)(int), int n)
{
    return function(n) + 1;
}
