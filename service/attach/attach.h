/*
 * Hooks in a program that runs and was not instrumented, and out of it again. How it is done: linux/attach.c.
 * Linux alone has it.
 */
#ifndef UMBRA_SERVICE_ATTACH_H
#define UMBRA_SERVICE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "service/attach/attach_settings.h"
#include "support/failure.h"

struct attached;

/* What became of it. */
struct attach_counts {
    unsigned images;         /* with hooks */
    unsigned long functions; /* hooked */
    unsigned long waiting;   /* left alone, since a thread was amid their first bytes, each time */
    unsigned long changed;   /* left alone, since these are not the file's any more */
    double stopped_ms;       /* how long the program stood still, the longest time */
};

/* The program's calls come to be recorded when this returns, with the program as it was but for that. Null: it
   runs on as it was. attached_free frees it. */
struct attached *attach_begin(const struct attach_settings *settings, struct attach_counts *counts,
                              struct failure *failure);

/* Once more, after attach_end has said ATTACH_GONE, without planning anew. */
bool attach_again(struct attached *attached, const struct attach_settings *settings, struct attach_counts *counts,
                  struct failure *failure);

/* Hooks images that were loaded since, if there are any, of which counts->images tells. False: the hooks have to go,
   since exceptions would not find their way any more, or the program cannot be looked at. */
bool attach_later(struct attached *attached, const struct attach_settings *settings, struct attach_counts *counts,
                  struct failure *failure);

/* Whether a function is to be hooked: from attach_apply on. It is told by where its image begins in the process, and
   its place in the image's manifest. False: it has no hook. */
bool attach_want(struct attached *attached, uint64_t base, uint32_t place, bool is_wanted);

/* A function that has a hook. */
struct attached_function {
    uint64_t base;  /* where its image begins in the process */
    uint32_t place; /* in the image's manifest */
};

/* The same by the user, of the function that begins at an address: it is hooked only if both want it. */
bool attach_want_at(struct attached *attached, uint64_t function, bool is_wanted, struct attached_function *found);

/* Functions are hooked as is wanted, but for those that a thread is amid of: these come in at a later call. */
bool attach_apply(struct attached *attached, struct failure *failure);

enum attach_ended {
    ATTACH_GONE,   /* the program's code and memory are what they were before, or it has ended */
    ATTACH_STAYS,  /* its code is; the agent's memory stays in it, since something might come there: failure says what */
    ATTACH_HOOKED, /* it is hooked: failure says why */
};

/* Takes the hooks out. Calls that are under way end as if they had never been recorded. */
enum attach_ended attach_end(struct attached *attached, struct failure *failure);

/* Where the program connects that sees other files than ours, and does not find the service's socket: the service is
   to accept there as well. -1: nowhere else. attached_free closes it. */
int attached_listener(const struct attached *attached);

void attached_free(struct attached *attached);

#endif
