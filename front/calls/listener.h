/* The listener of a recording's seccomp filter goes from the process that is to become the program,
   which has made it, to the supervisor, by a socket. */
#ifndef UMBRA_FRONT_LISTENER_H
#define UMBRA_FRONT_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

/* Hands it over and waits until all is ready. Returns false if nobody is there. */
bool listener_send(int socket, int listener);

/* The listener, and the pid of its sender as the kernel says; -1 if nobody comes. */
int listener_receive(int socket, pid_t *pid);

#endif
