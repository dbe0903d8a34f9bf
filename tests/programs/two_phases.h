static inline __attribute__((always_inline)) unsigned long remainder_of(unsigned long x, unsigned long i)
{
    return x / (i + 7) / (i + 9) / (i + 11) + (x >> 33) / (x / (i + 5) + 1); /* the header's line */
}

static inline __attribute__((always_inline)) unsigned long mixed_in_header(unsigned long x, unsigned long i)
{
    for (int k = 0; k < 20; k++)
        x = x * 6364136223846793005ul + remainder_of(x, i);
    return x;
}
