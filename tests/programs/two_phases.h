static inline __attribute__((always_inline)) unsigned long mixed_in_header(unsigned long x, unsigned long i)
{
    for (int k = 0; k < 40; k++)
        x = x * 6364136223846793005ul + (x >> 33) / (i + 7); /* the header's line */
    return x;
}
