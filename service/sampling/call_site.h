/*
 * Does a call end where these bytes of x86-64 code end? Only then may the address behind them be a
 * return address. The bytes before the call are unknown, so some bytes look like a call and are
 * not.
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
