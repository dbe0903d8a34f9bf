#include "grinder/views/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_DIGITS  3
#define BELOW_DIGITS 2
#define NARROW       0.75 /* half a range, of the number */

/* The decimal place of a number's first digit: 2 of 123, -1 of 0.5. */
static int first_place(double number)
{
    return (int)floor(log10(number) + 1e-9);
}

/* The place of the last digit that means something. With one digit, 17 is 20 and 0.15 is 0.2:
   sorted rows look unsorted. So a number has two where its range is narrower than it is high, as
   with eight samples or more. */
static int last_place(struct figure figure)
{
    double half = (figure.high - figure.low) / 2;
    int first = first_place(figure.value);
    int last = first - (MOST_DIGITS - 1);
    int fewest = half < NARROW * figure.value ? first - 1 : first;

    if (half > 0 && first_place(half) > last)
        last = first_place(half);
    return last < fewest ? last : fewest;
}

static int decimals_of(int place, int unit)
{
    return unit > place ? unit - place : 0;
}

/* To a whole number of that place; *place is one higher where that has given it a digit more than
   there may be: 999.6 is 1000, with its tens. */
static double rounded(double value, int *place)
{
    double scale = pow(10, *place);
    double number = floor(value / scale + 0.5) * scale;

    if (number > 0 && first_place(number) - *place >= MOST_DIGITS)
        ++*place;
    return number;
}

static double rounded_up(double value, int *place)
{
    double scale, number;

    *place = first_place(value) - (BELOW_DIGITS - 1);
    scale = pow(10, *place);
    number = ceil(value / scale - 1e-9) * scale;
    if (first_place(number) - *place >= BELOW_DIGITS)
        ++*place;
    return number;
}

static char *put_time(char text[FIGURE_ROOM], const char *before, double ns, int place)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;

    while (unit < 3 && ns >= pow(10, 3 * (unit + 1)) * (1 - 1e-9))
        unit++;
    snprintf(text, FIGURE_ROOM, "%s%.*f %s", before, decimals_of(place, 3 * unit),
             ns / pow(10, 3 * unit), units[unit]);
    return text;
}

char *figure_time(char text[FIGURE_ROOM], struct figure ns)
{
    int place = 0;
    double number;

    if (!(ns.value > 0))
        return strcpy(text, "0 ns");
    place = last_place(ns);
    number = rounded(ns.value, &place);
    return put_time(text, "", number, place);
}

char *figure_time_below(char text[FIGURE_ROOM], double ns)
{
    int place = 0;
    double number;

    if (!(ns > 0))
        return strcpy(text, "-");
    number = rounded_up(ns, &place);
    return put_time(text, "< ", number, place);
}

char *figure_share(char text[FIGURE_ROOM], struct figure percent)
{
    int place;
    double number;

    if (!(percent.value > 0))
        return strcpy(text, "0%");
    if (percent.value < 0.01)
        return strcpy(text, "<0.01%");
    place = last_place(percent);
    number = rounded(percent.value, &place);
    snprintf(text, FIGURE_ROOM, "%.*f%%", place < -2 ? 2 : decimals_of(place, 0), number);
    return text;
}

char *figure_share_below(char text[FIGURE_ROOM], double percent)
{
    int place;
    double number;

    if (!(percent > 0))
        return strcpy(text, "-");
    if (percent <= 0.01)
        return strcpy(text, "<0.01%");
    number = rounded_up(percent, &place);
    snprintf(text, FIGURE_ROOM, "<%.*f%%", place < -2 ? 2 : decimals_of(place, 0), number);
    return text;
}

char *figure_count(char text[FIGURE_ROOM], uint64_t count)
{
    static const char units[] = "MGTPE";
    int place = 0, unit = 0;
    double number;

    if (count < 1000) {
        snprintf(text, FIGURE_ROOM, "%u", (unsigned)count);
        return text;
    }
    if (count < 1000000) {
        snprintf(text, FIGURE_ROOM, "%u,%03u", (unsigned)(count / 1000), (unsigned)(count % 1000));
        return text;
    }
    place = first_place((double)count) - (MOST_DIGITS - 1);
    number = rounded((double)count, &place);
    while (number >= pow(10, 3 * (unit + 3)) * (1 - 1e-9))
        unit++;
    snprintf(text, FIGURE_ROOM, "%.*f %c", decimals_of(place, 3 * (unit + 2)),
             number / pow(10, 3 * (unit + 2)), units[unit]);
    return text;
}
