#include "service/tool/linux/unhooking.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "service/base/message.h"
#include "service/base/tick_clock.h"
#include "service/recorder/recorder.h"
#include "service/recorder/session.h"
#include "service/server/client.h"

struct session *unhooking_session(const struct unhooking *unhooking)
{
    struct session *session;

    DL_FOREACH(unhooking->service->recorder.sessions, session)
    {
        if (session->pid == unhooking->pid)
            return session;
    }
    return NULL;
}

/* Null: it was hooked all the time. */
static struct unhooked *last_of(struct unhooking *unhooking, uint32_t function)
{
    return function < unhooking->function_room && unhooking->last_of[function]
               ? &unhooking->items[unhooking->last_of[function] - 1]
               : NULL;
}

static bool make_room(struct unhooking *unhooking, uint32_t function)
{
    if (unhooking->count == unhooking->room) {
        size_t room = unhooking->room ? 2 * unhooking->room : 64;
        struct unhooked *grown = realloc(unhooking->items, room * sizeof(*grown));

        if (!grown)
            return false;
        unhooking->items = grown;
        unhooking->room = room;
    }
    if (function >= unhooking->function_room) {
        size_t room = 2 * (size_t)function + 64;
        uint32_t *grown = realloc(unhooking->last_of, room * sizeof(*grown));

        if (!grown)
            return false;
        memset(grown + unhooking->function_room, 0,
               (room - unhooking->function_room) * sizeof(*grown));
        unhooking->last_of = grown;
        unhooking->function_room = room;
    }
    return true;
}

static void note_out(struct unhooking *unhooking, uint32_t function, uint64_t calls, bool by_user)
{
    const struct unhooked *last = last_of(unhooking, function);

    if ((last && !last->in_ticks) || !make_room(unhooking, function))
        return;
    unhooking->items[unhooking->count] = (struct unhooked){
        .function = function, .by_user = by_user, .calls = calls, .out_ticks = tick_clock_now()};
    unhooking->last_of[function] = (uint32_t)++unhooking->count;
}

static void note_in(struct unhooking *unhooking, uint32_t function)
{
    struct unhooked *last = last_of(unhooking, function);

    if (last && !last->in_ticks)
        last->in_ticks = tick_clock_now();
}

static void write_list(const struct unhooking *unhooking)
{
    const struct session *session = unhooking_session(unhooking);
    const struct trace_header *trace = session ? session->trace.header : NULL;
    size_t size = unhooking->count * sizeof(*unhooking->items);
    struct unhooked_header header = {
        .magic = UNHOOKED_MAGIC,
        .version = UNHOOKED_VERSION,
        .count = (uint32_t)unhooking->count,
        .percent_256 = (uint32_t)(unhooking->percent * 256),
    };
    char *bytes = trace ? malloc(sizeof(header) + size) : NULL;

    if (!bytes)
        return;
    header.created_ns = trace->created_ns;
    header.pid = trace->pid;
    memcpy(bytes, &header, sizeof(header));
    if (size)
        memcpy(bytes + sizeof(header), unhooking->items, size);
    session_write_beside(session, UNHOOKED_SUFFIX, "list of functions that were not hooked", bytes,
                         sizeof(header) + size);
    free(bytes);
}

static bool apply(struct unhooking *unhooking, struct failure *failure)
{
    unhooking->is_late = !attach_apply(unhooking->attached, failure);
    return !unhooking->is_late;
}

static bool want(const struct unhooking *unhooking, const struct function_calls *calls,
                 uint32_t function, bool is_wanted)
{
    const struct called_image *image = function_calls_image(calls, function);

    return image && attach_want(unhooking->attached, image->base, function - image->first_function,
                                is_wanted);
}

bool unhooking_change(struct unhooking *unhooking, const struct function_calls *calls,
                      const struct overhead_changes *changes)
{
    struct failure ignored;
    size_t count = 0;

    for (size_t i = 0; i < changes->out_count; i++) {
        if (!want(unhooking, calls, changes->out[i], false))
            continue;
        note_out(unhooking, changes->out[i], calls->calls[changes->out[i]], false);
        count++;
    }
    for (size_t i = 0; i < changes->in_count; i++) {
        if (!want(unhooking, calls, changes->in[i], true))
            continue;
        note_in(unhooking, changes->in[i]);
        count++;
    }
    if (count || unhooking->is_late)
        apply(unhooking, &ignored);
    if (count)
        write_list(unhooking);
    return count;
}

/* Its number in the trace; UINT32_MAX: no call of its image was recorded. */
static uint32_t number_of(const struct function_calls *calls,
                          const struct attached_function *function)
{
    for (size_t i = 0; i < calls->image_count; i++)
        if (calls->images[i].base == function->base &&
            function->place < calls->images[i].function_count)
            return calls->images[i].first_function + function->place;
    return UINT32_MAX;
}

static void note(struct unhooking *unhooking, const struct function_calls *calls,
                 const struct attached_function *function, bool is_wanted)
{
    uint32_t number = number_of(calls, function);

    if (number == UINT32_MAX)
        return;
    if (is_wanted)
        note_in(unhooking, number);
    else
        note_out(unhooking, number, number < calls->count ? calls->calls[number] : 0, true);
}

/* How many of them have hooks. */
static unsigned want_all(struct unhooking *unhooking, const struct function_calls *calls,
                         const struct protocol_change *change)
{
    bool is_wanted = change->command.kind == PROTOCOL_COMMAND_HOOK;
    unsigned count = 0;

    for (uint32_t i = 0; i < change->count; i++) {
        struct attached_function function;

        if (!attach_want_at(unhooking->attached, change->functions[i], is_wanted, &function))
            continue;
        count++;
        note(unhooking, calls, &function, is_wanted);
    }
    return count;
}

/* What is late comes at the next change. */
static void change_hooks(void *changer, struct client *client, const struct protocol_change *change)
{
    struct unhooking *unhooking = changer;
    const struct session *session = unhooking_session(unhooking);
    struct function_calls calls = {0};
    struct failure failure = {""};
    unsigned count;

    if (session)
        function_calls_read(&calls, session->trace.fd);
    count = want_all(unhooking, &calls, change);
    function_calls_free(&calls);
    if (!change->more && !apply(unhooking, &failure))
        client_send(client, "failure\t%s", failure.text);
    if (!change->more)
        write_list(unhooking);
    client_send(client, "functions\t%u", count);
}

void unhooking_begin(struct unhooking *unhooking)
{
    unhooking->service->changer = unhooking;
    unhooking->service->change_hooks = change_hooks;
}

void unhooking_end(struct unhooking *unhooking)
{
    unhooking->service->change_hooks = NULL;
    free(unhooking->items);
    free(unhooking->last_of);
}
