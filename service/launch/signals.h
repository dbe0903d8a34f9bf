/* Signals as events, and what a command must find restored. */
#ifndef UMBRA_SERVICE_SIGNALS_H
#define UMBRA_SERVICE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* What a platform keeps of what it found, for a command to find the same. */
struct signals_before;

struct signals {
    int fd; /* can be read when there is an event */
    struct signals_before *before;
};

struct signal_event {
    int number;         /* to end: as whoever sent it wants it; may be handed on to the command */
    bool child_ended;   /* not to end, but to look after the command */
    bool for_the_log;   /* SIGHUP from a process, not from a terminal that is gone */
    bool from_terminal; /* sent by a key to the whole foreground group, the command included */
};

bool signals_open(struct signals *signals);
void signals_close(struct signals *signals);

/* Returns false if there is none left. Never waits. */
bool signals_next(struct signals *signals, struct signal_event *event);

#endif
