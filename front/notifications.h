/* Calls of the recorded program that wait for an answer (seccomp_unotify(2)): receiving them one
   after the other, and having them answered. */
#ifndef UMBRA_FRONT_NOTIFICATIONS_H
#define UMBRA_FRONT_NOTIFICATIONS_H

#include <linux/seccomp.h>
#include <stdbool.h>

/* Returns whether it has answered the call; else the call goes on. */
typedef bool notification_handler(void *context, const struct seccomp_notif *call);

/* Hands each call to the handler; without one, all go on. Returns when the last process with the
   filter is gone. */
void notifications_serve(int listener, notification_handler *handler, void *context);

#endif
