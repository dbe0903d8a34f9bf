/*
 * TCP on this machine's own loopback address, and nowhere else. Descriptors are the system's own;
 * all functions set errno when they fail. Nothing waits but what tcp_connect made.
 */
#ifndef UMBRA_SERVICE_TCP_H
#define UMBRA_SERVICE_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* To be called before anything else here. */
bool tcp_begin(void);

/* Listens on 127.0.0.1, on a port that the system chooses. Returns -1 if it cannot. */
int tcp_listen(uint16_t *port);

/* Returns -1 if nobody is there. */
int tcp_accept(int listener);

/* A socket of no use but to be closed when descriptors have run out. */
int tcp_spare(void);

/* patience_s is how long tcp_receive waits, 0 for ever. */
int tcp_connect(uint16_t port, unsigned patience_s);

/* All of it or, when the buffer (64 KiB at least) has no room for that, false. */
bool tcp_send(int connection, const void *bytes, size_t size);

/* Returns how many bytes came, 0 at the end of the connection, -1 for an error or EAGAIN. */
ssize_t tcp_receive(int connection, void *bytes, size_t size);

/* Lets what was sent arrive. A negative one is left alone. */
void tcp_close(int connection);

#endif
