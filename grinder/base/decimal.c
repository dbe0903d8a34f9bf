#include "grinder/base/decimal.h"

#include <string.h>

/* The last `places` digits of number, or more if it has more. */
static char *put(char *at, uint64_t number, unsigned places)
{
    char digits[20];
    unsigned count = 0;

    while (number || count < places) {
        digits[sizeof(digits) - ++count] = (char)('0' + number % 10);
        number /= 10;
    }
    memcpy(at, digits + sizeof(digits) - count, count);
    return at + count;
}

char *decimal_put(char *at, uint64_t number)
{
    return put(at, number, 1);
}

char *decimal_put_fraction(char *at, uint64_t number, unsigned digits)
{
    uint64_t whole = 1;

    for (unsigned i = 0; i < digits; i++)
        whole *= 10;
    at = put(at, number / whole, 1);
    *at++ = '.';
    return put(at, number % whole, digits);
}
