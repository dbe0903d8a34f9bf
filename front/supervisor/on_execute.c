#include "front/supervisor/on_execute.h"

#include <fcntl.h>
#include <unistd.h>

#include "front/calls/rights.h"

#define MOST_INTERPRETERS 5 /* of a script whose interpreter is a script; the kernel's limit */

/* Instruments the program, and the interpreter of a script, which the kernel executes without a
   call. */
static void take_program(const struct waiting_call *call, const struct tracee_look *caller,
                         struct tracee_path *path)
{
    struct placing *placing = &call->watch->placing;

    for (int i = 0; i < MOST_INTERPRETERS; i++) {
        struct image_look look = {.kind = IMAGE_KIND_OTHER};
        int name = rights_open_path(caller, path, 0, X_OK);
        if (name < 0)
            return;
        if (caller->is_traced)
            placing_leave_to_debugger(placing, name);
        else
            placing_take(placing, call->notification, name, &look);
        close(name);
        if (look.kind != IMAGE_KIND_SCRIPT)
            return;
        tracee_path_close(path);
        if (!tracee_find_path(call->pid, AT_FDCWD, look.interpreter, path))
            return;
    }
}

static void note_confined(const struct waiting_call *call)
{
    char program[PATH_MAX];

    if (tracee_program(call->pid, program))
        placing_note_confined(&call->watch->placing, program);
}

void on_execute(const struct waiting_call *call)
{
    struct tracee_look caller;
    struct tracee_path path;

    loaders_forget(call->watch->loaders, call->pid);
    if (!tracee_look(call->pid, &caller))
        return;
    if (!rights_are_free(call->pid, &caller)) {
        note_confined(call);
        return;
    }
    if ((call_is_left_alone(call) && !caller.is_traced) || !call_find_path(call, 0, &path))
        return;
    take_program(call, &caller, &path);
    tracee_path_close(&path);
}
