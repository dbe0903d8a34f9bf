/* Who listens at a port, as far as it can be known without a word to whoever that is. */
#ifndef UMBRA_HOOKS_WINDOWS_PORT_H
#define UMBRA_HOOKS_WINDOWS_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* Under Wine: does Linux say that somebody else listens at this port of 127.0.0.1, or nobody? False
   then; true also where it does not say. */
bool port_may_be_of(uint16_t port, uint32_t uid);

#endif
