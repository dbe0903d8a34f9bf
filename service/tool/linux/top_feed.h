/*
 * Traces of the programs that come while top runs. The grinder, which top becomes, has a socket
 * (SOCK_SEQPACKET) to a process that asks the service:
 *
 *      grinder                               the feeding process
 *        | a byte: is there another one? ---->|
 *        |<---- a byte, with a descriptor ----|  of a trace that was not handed over yet
 *        | a byte: is there another one? ---->|
 *        |<---- a byte ---------------------- |  there is none
 *
 * It ends when the other end is closed.
 */
#ifndef UMBRA_SERVICE_LINUX_TOP_FEED_H
#define UMBRA_SERVICE_LINUX_TOP_FEED_H

#include <stdint.h>

#include "service/tool/options.h"

/* Begins with sessions whose number is above last. Returns the grinder's end, which is inherited,
   or -1 with errno. */
int top_feed_start(const struct options *options, uint32_t last);

#endif
