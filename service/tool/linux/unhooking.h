/*
 * Functions of a process that are hooked no more, or again: since their hooks cost too much, or since the user has
 * said so. What becomes of them is written beside the trace at each change (trace/unhooked_format.h).
 */
#ifndef UMBRA_SERVICE_UNHOOKING_H
#define UMBRA_SERVICE_UNHOOKING_H

#include "service/attach/attach.h"
#include "service/attach/function_calls.h"
#include "service/attach/overhead.h"
#include "service/server/service.h"
#include "trace/unhooked_format.h"

struct unhooking {
    struct service *service;
    struct attached *attached;
    pid_t pid;
    double percent; /* of --overhead; 0: none */
    struct unhooked *items;
    size_t count, room;
    uint32_t *last_of; /* by number of a function: the place of its last item, plus 1; 0: it has none */
    size_t function_room;
    bool is_late; /* hooks are not yet as they should be */
};

/* `hook` and `unhook` are answered from here on, until unhooking_end. */
void unhooking_begin(struct unhooking *unhooking);
void unhooking_end(struct unhooking *unhooking);

/* Of the process; null: nothing of it is recorded yet, or no more. */
struct session *unhooking_session(const struct unhooking *unhooking);

/* What costs too much goes, or comes back: as soon as the program can be stopped, at a later call if not now. calls: of
   the session's trace. False: there was nothing. */
bool unhooking_change(struct unhooking *unhooking, const struct function_calls *calls,
                      const struct overhead_changes *changes);

#endif
