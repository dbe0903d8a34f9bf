/* The system's clocks. */
#ifndef UMBRA_SERVICE_SYSTEM_CLOCK_H
#define UMBRA_SERVICE_SYSTEM_CLOCK_H

#include <stdint.h>

/* The time, in ns, of a clock that never jumps and that nothing adjusts. */
uint64_t system_clock_steady_ns(void);

/* Since 1970. */
uint64_t system_clock_real_ns(void);

void system_clock_sleep_ms(unsigned ms);

#endif
