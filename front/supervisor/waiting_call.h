/*
 * A call of a recorded program that waits for the supervisor's answer: what it names, and whether
 * its caller is served (front/calls/rights.h).
 *
 * What is answered for the caller is what the kernel would answer: a file is first opened with the
 * supervisor's own rights, to look whether there is anything to do, and then with the caller's, who
 * must come to the same file.
 */
#ifndef UMBRA_FRONT_WAITING_CALL_H
#define UMBRA_FRONT_WAITING_CALL_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "front/calls/loaders.h"
#include "front/calls/notifications.h"
#include "front/calls/tracee.h"
#include "front/calls/watched_calls.h"
#include "front/supervisor/placing.h"

/* What all calls of a recording have in common. */
struct watch {
    int listener;
    pid_t program;
    bool only_program; /* what other processes execute is left alone */
    struct loaders *loaders;
    struct placing placing;
};

/* Valid while the notification is. */
struct waiting_call {
    struct watch *watch;
    struct notification *notification;
    struct seccomp_data data; /* its number and arguments, which have 32 bits in a call of i386 */
    enum call_world world;    /* whose number that is */
    pid_t pid;                       /* the number of the thread that calls */
    const struct watched_call *watched;
};

/* Returns false if it is not a watched call. */
bool call_begin(struct waiting_call *call, struct watch *watch, struct notification *notification);

/* Finds the path that is `which` of watched->paths. Returns false if there is none; else
   tracee_path_close. */
bool call_find_path(const struct waiting_call *call, size_t which, struct tracee_path *path);

/* What that path leads to, with the supervisor's own rights: to look whether there is anything to
   do. A descriptor opened with O_PATH, or -1. flags may be O_NOFOLLOW. */
int call_open_path(const struct waiting_call *call, size_t which, int flags);

/* Whether the caller comes to that file by the call's first path, with its rights
   (rights_open_path). */
bool call_reaches(const struct waiting_call *call, const struct tracee_look *caller, int flags,
                  int access, const struct stat *expected);

/* Whether the caller has not confined itself. Fills *caller in. */
bool call_may_be_served(const struct waiting_call *call, struct tracee_look *caller);

/* Whether only the program is to be instrumented, and the caller is another. */
bool call_is_left_alone(const struct waiting_call *call);

/* A debugger compares what runs with the file that it reads, which is the original. */
bool call_is_traced(const struct waiting_call *call);

/* Whether it still waits, for us: else its process may be gone, and its pid another's. */
bool call_is_waiting(const struct waiting_call *call);

/* Whether it follows a link that its path ends with: O_NOFOLLOW or 0. */
int call_follow_flags(const struct waiting_call *call);

/* Ends it, with success and 0, or with that errno. Returns whether it still waited. */
bool call_end(const struct waiting_call *call, int error);

/* Ends it with a descriptor of the file, which stays open here, too. flags may be O_CLOEXEC.
   Returns whether it still waited. */
bool call_end_with_file(const struct waiting_call *call, int file, int flags);

#endif
