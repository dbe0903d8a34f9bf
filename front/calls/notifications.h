/*
 * Calls of the recorded programs that wait for an answer (seccomp_unotify(2)). Several threads
 * receive and answer them, so that none waits for another:
 *
 *      worker      receives a call, handles it, answers it. One that is idle is kept at hand: who
 *                  takes a call while none else is idle starts another, up to a bound
 *      keeper      the thread that serves: lets a call go on whose handling takes too long, as when
 *                  a path leads to a file system that does not answer. It never opens a path
 *                  itself. When all workers are stuck so, it lets every call go on
 *
 * A recorded program may be what answers: a FUSE server. The thread that waits for the server's
 * file is another than the one that answers the server's own calls.
 */
#ifndef UMBRA_FRONT_NOTIFICATIONS_H
#define UMBRA_FRONT_NOTIFICATIONS_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/types.h>

#define NOTIFICATION_SECONDS      5   /* of handling, after which a call goes on */
#define NOTIFICATION_LONG_SECONDS 900 /* of one that has said that it takes long */

struct notification;
struct notifications;

/* What waits: valid while it is handled. */
const struct seccomp_notif *notification_call(const struct notification *notification);

/* The handler of a call begins something that may take minutes, and has a limit of its own: other calls are
   served meanwhile as if this one were not there. */
void notification_takes_long(struct notification *notification);

/* To be called before the handler changes anything in the process that waits. False: the call has
   gone on already, or its process is gone. From then on the answer is the handler's alone. */
bool notification_claim(struct notification *notification);

/* Whether the call has gone on already. */
bool notification_is_late(struct notification *notification);

/* Answers it: with success and 0, or with that errno. False: it has gone on already. */
bool notification_answer(struct notification *notification, int error);

/* Called by several threads. */
struct notification_handlers {
    /* Returns whether it has answered the call; else the call goes on. */
    bool (*handle)(void *context, struct notification *notification);
    /* All workers are stuck, and the call is about to go on. It must not wait for anything. */
    void (*pass)(void *context, const struct seccomp_notif *call);
    void *context;
};

/* What is in hand, for the process that forks the one that serves, too. Null with errno. */
struct notifications *notifications_new(void);

/* Hands each call to a handler; handlers stay as they are. Returns when the last process with the
   filter is gone; threads that are stuck may still be there. */
void notifications_serve(struct notifications *notifications, int listener,
                         const struct notification_handlers *handlers);

/* Lets all calls go on, in this thread alone: first those that a process which served had in hand
   when it died: `dying`, a child that is dead or about to be, or -1. Returns when the last process with the filter
   is gone. */
void notifications_let_go_on(struct notifications *notifications, int listener, pid_t dying);

#endif
