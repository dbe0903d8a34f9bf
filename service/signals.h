/* Signals as events, and what a command must find restored. */
#ifndef UMBRA_SERVICE_SIGNALS_H
#define UMBRA_SERVICE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Read as events: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD. Ignored: SIGPIPE, SIGXFSZ. */
struct signals {
    int fd;
    sigset_t mask_before;   /* of whoever started the service */
    sigset_t ignored_by_us; /* not ignored before */
};

struct signal_event {
    int number;
    bool from_terminal; /* sent by a key to the whole foreground group, the command included */
};

bool signals_open(struct signals *signals);
void signals_close(struct signals *signals);

/* Returns false if there is none left. Never waits. */
bool signals_next(struct signals *signals, struct signal_event *event);

#endif
