/* Two builds of a program, for what changed between them: with -DSECOND a function more, so that
   the others have moved. */
#ifdef SECOND
__attribute__((noinline)) int added(int n)
{
    return n % 7 + n / 3;
}
#endif

__attribute__((noinline)) unsigned mixed(unsigned n)
{
    n ^= n >> 15;
    n *= 0x2c1b3c6du;
    n ^= n >> 12;
    n *= 0x297a2d39u;
    return n ^ n >> 15;
}

int main(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < 100; i++)
        sum += mixed(i);
#ifdef SECOND
    for (int i = 0; i < 10; i++)
        sum += (unsigned)added(i) + mixed(sum);
#endif
    return sum == 1;
}
