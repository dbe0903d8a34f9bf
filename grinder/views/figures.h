/*
 * Figures that people read: 123 ms, 12.3 M, 26%.
 *
 * A figure made of samples lies in a range (sample_range.h). Its last digit is that of the range's
 * half width's first; it has one digit at least and three at most. Where there was no sample, the
 * range's upper end is shown, rounded up:
 *
 *      figure       range                shown
 *      122.9 ms     116.3 ... 130.1      123 ms
 *      122.9 ms     103.5 ... 146.0      120 ms
 *        1.0 ms       0.2 ...   5.6      1 ms
 *        0.0 ms       0.0 ...   3.84     < 3.9 ms
 *      122.9 ms     none: it is exact    123 ms
 */
#ifndef UMBRA_GRINDER_FIGURES_H
#define UMBRA_GRINDER_FIGURES_H

#include <stdint.h>

#define FIGURE_ROOM 32

/* A time in ns, or a share in percent. */
struct figure {
    double value;
    double low, high; /* as value: it is exact */
};

static inline struct figure figure_exact(double value)
{
    return (struct figure){value, value, value};
}

/* All of these return text. Units are ns, us, ms and s. */
char *figure_time(char text[FIGURE_ROOM], struct figure ns);
char *figure_time_below(char text[FIGURE_ROOM], double ns);

/* Two decimals at most; "<0.01%" for less. */
char *figure_share(char text[FIGURE_ROOM], struct figure percent);
char *figure_share_below(char text[FIGURE_ROOM], double percent);

/* 999,999, then 1.00 M to 999 M, 1.00 G and so on. */
char *figure_count(char text[FIGURE_ROOM], uint64_t count);

#endif
