/*
 * How fast the processor's tick counter runs, measured against the system's clock.
 *
 *      tick_clock_open             a trace begins      another            its end
 *      |------ 20 ms ------|            |                 |                  |
 *      first sample     quick      first sample … now, the longer the better
 *
 * A sample is a pair (ticks, nanoseconds) read within some 50 ns of each other, so that the
 * figure is good to about 5 parts in a million after 20 ms and to 0.1 after one second.
 */
#ifndef UMBRA_SERVICE_TICK_CLOCK_H
#define UMBRA_SERVICE_TICK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct tick_clock {
    uint64_t first_ticks;
    uint64_t first_ns;
    uint64_t quick; /* ticks per second after the first 20 ms */
};

/* Takes 20 ms. Returns false if the counter does not run at a constant rate: figures are rough. */
bool tick_clock_open(struct tick_clock *clock);

/*
 * Ticks per second, as well as is known by now. A figure more than a thousandth off the quick one
 * is not believed (the machine slept, or moved to another host): the quick one stands.
 */
uint64_t tick_clock_frequency(const struct tick_clock *clock);

uint64_t tick_clock_now(void);

#endif
