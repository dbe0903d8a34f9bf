/*
 * An input of protocol_fuzz:
 *
 *      0       1       2
 *      | way   | piece | bytes as they come …
 *
 * way: over the local socket, as a packet, or over TCP, in pieces of that many bytes.
 */
#ifndef UMBRA_TESTS_FUZZ_PROTOCOL_FUZZ_H
#define UMBRA_TESTS_FUZZ_PROTOCOL_FUZZ_H

#define FUZZ_BY_PACKET 'p'
#define FUZZ_BY_TCP    't'
#define FUZZ_START     2
#define FUZZ_SECRET    "sixteen letters!"

#endif
