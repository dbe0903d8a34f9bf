/*
 * Does a call end where these bytes of x86-64 code end? Then the address behind them may be a
 * return address; else it is none. Bytes before the call are unknown, so that some ends look like a
 * call that are none.
 *
 *      e8 rel32                        call rel32
 *      (rex) ff /2 modrm (sib) (disp)  call through a register or memory; modrm says how long
 */
#ifndef UMBRA_SERVICE_CALL_SITE_H
#define UMBRA_SERVICE_CALL_SITE_H

#include <stdbool.h>

#define CALL_SITE_BYTES 7 /* of the longest call, without a prefix */

bool call_site_is_at_end(const unsigned char code[CALL_SITE_BYTES]);

#endif
