/* Who listens at a port, as far as that can be known without connecting to it. */
#ifndef UMBRA_HOOKS_WINDOWS_PORT_H
#define UMBRA_HOOKS_WINDOWS_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* Under Wine: false if Linux says that another user listens at this port of 127.0.0.1, or that
   nobody does. True otherwise, also if Linux does not say. */
bool port_may_be_of(uint16_t port, uint32_t uid);

#endif
