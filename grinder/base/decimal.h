/* Numbers as text, faster than by printf: there are many millions of them. */
#ifndef UMBRA_GRINDER_DECIMAL_H
#define UMBRA_GRINDER_DECIMAL_H

#include <stdint.h>

#define DECIMAL_ROOM 24 /* characters that each of these needs at most */

/* Both return the end of what they wrote, where no zero is put. */
char *decimal_put(char *at, uint64_t number);

/* number / 10^digits, digits up to 18, with that many places: 1234567 and 3 is "1234.567". */
char *decimal_put_fraction(char *at, uint64_t number, unsigned digits);

#endif
