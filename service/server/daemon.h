/* The service in the background. */
#ifndef UMBRA_SERVICE_DAEMON_H
#define UMBRA_SERVICE_DAEMON_H

/*
 * Splits off a process of its own session, with no descriptors but the standard ones, and returns
 * in it, with what daemon_ready needs. In the process that called it, it does not return: that
 * one ends with status 0 when daemon_ready was called, else with the daemon's own exit status.
 * Returns -1, in the only process there is, after one message.
 */
int daemon_begin(void);

/*
 * Splits off such a process, but the one that called it goes on: returns -2 in it, when
 * daemon_ready was called, and -1 after one message where that did not come to pass. Windows has
 * none: -1 without a message. *kept is a descriptor that the daemon keeps, or negative; becomes its
 * number there.
 */
int daemon_begin_beside(int *kept);

/* Lets the one who waits go, and gives up the directory and the standard descriptors. */
void daemon_ready(int caller);

#endif
