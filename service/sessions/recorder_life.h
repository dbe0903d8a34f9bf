/* A recorder from its start to its end. */
#ifndef UMBRA_SERVICE_RECORDER_LIFE_H
#define UMBRA_SERVICE_RECORDER_LIFE_H

#include <stdbool.h>

#include "service/recorder/recorder.h"

/* Sets as much as recorder_close needs. Settings and loop are the caller's. */
void recorder_init(struct recorder *recorder, const struct recorder_settings *settings,
                   struct event_loop *loop);

/* Opens the trace directory. Returns false after one message. */
bool recorder_open(struct recorder *recorder);

/*
 * From here on sessions can begin. socket_path is the one of the instance, which is ours from here
 * on: an earlier service of it may have left sessions to its keeper, which this one continues.
 */
void recorder_begin(struct recorder *recorder, const char *socket_path);

/*
 * Ends the sessions of processes that are gone, and leaves the others. With wait_for_all, those
 * that came by TCP have a second to be gone. Returns how many go on.
 */
unsigned recorder_end(struct recorder *recorder, bool wait_for_all);

/* Frees everything; no session is left. */
void recorder_close(struct recorder *recorder);

#endif
