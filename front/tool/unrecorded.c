#include "front/tool/unrecorded.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/files/image_kind.h"
#include "support/memory.h"

#define STATUS_SIGNALED   128
#define MOST_INTERPRETERS 5 /* of a script whose interpreter is a script; the kernel's limit */

static bool look_at(const char *path, struct image_look *look)
{
    int name = open(path, O_PATH | O_CLOEXEC);
    bool is = name >= 0 && image_look_at_path(look, name);

    if (name >= 0)
        close(name);
    return is;
}

bool unrecorded_is_foreign(const char *path)
{
    struct image_look look;

    return look_at(path, &look) && (look.kind == IMAGE_KIND_FOREIGN || look.kind == IMAGE_KIND_ELF);
}

/* What keeps the kernel from executing a file that is there; to be freed. */
static char *find_hindrance(const char *path, int error)
{
    struct image_look look;

    if (error == ENOEXEC && look_at(path, &look) && look.kind == IMAGE_KIND_FOREIGN)
        return memory_copy_string(look.why);
    if (error != ENOENT || access(path, F_OK) < 0)
        return memory_copy_string(strerror(error));

    if (look_at(path, &look) && look.kind == IMAGE_KIND_SCRIPT)
        return memory_print("its first line names %s, which is not there or needs what is not "
                            "there",
                            look.interpreter);
    return memory_copy_string("the dynamic linker that it names is not there");
}

void unrecorded_tell(const struct recording *recording, const char *program, const char *path,
                     int error)
{
    char *why = find_hindrance(path, error);
    char *text = memory_print("%s: cannot be run: %s", program, why);

    say("%s", text);
    recording_note(recording, "why", text);
    free(why);
    free(text);
}

/* Without links, as `files` has it; to be freed. */
static char *find_executed(const char *path)
{
    struct image_look look;
    char *executed = memory_copy_string(path), *real;

    for (int i = 0; i < MOST_INTERPRETERS && look_at(executed, &look); i++) {
        if (look.kind != IMAGE_KIND_SCRIPT)
            break;
        free(executed);
        executed = memory_copy_string(look.interpreter);
    }
    real = realpath(executed, NULL);
    if (!real)
        return executed;
    free(executed);
    return real;
}

static bool is_instrumented(const struct recording *recording, const char *path)
{
    struct words paths = {0};
    bool is = false;

    recording_list_files(recording, "instrumented", &paths);
    for (size_t i = 0; i < paths.count; i++)
        is = is || !strcmp(paths.list[i], path);
    words_free(&paths);
    return is;
}

/* Whether there is no room: then the recording's `files` has not all that was to be written. */
static bool is_full(const struct recording *recording)
{
    struct statvfs system;

    return fstatvfs(recording->directory, &system) == 0 && system.f_bavail == 0;
}

/* How it ended, if that is the reason: a library that is executed as a program does. */
static const char *find_death(const struct recording *recording)
{
    char *status = recording_value(recording, "status");
    int number = status ? atoi(status) : 0;

    free(status);
    return number == STATUS_SIGNALED + SIGSEGV
               ? ": it died of SIGSEGV at once; is it a program, and no "
                 "library?"
           : number > STATUS_SIGNALED ? ": a signal killed it at once"
                                      : "";
}

/* Why a program that was executed was not recorded. */
static char *find_reason(const struct recording *recording, const char *path)
{
    char *executed = find_executed(path), *why = recording_why_left(recording, executed);

    if (!why && is_full(recording))
        why =
            memory_print("%s: there is no room for the recording: %s", executed, strerror(ENOSPC));
    if (!why && is_instrumented(recording, executed))
        why = memory_print("%s: it was instrumented, but no hook in it was reached%s", executed,
                           find_death(recording));
    if (!why)
        why = recording_why_left(recording, NULL);
    if (!why)
        why = memory_print("%s: nothing that it executed or loaded is a program or library that "
                           "can be instrumented",
                           executed);
    free(executed);
    return why;
}

char *unrecorded_find_why(const struct recording *recording, const char *path)
{
    char *why = recording_value(recording, "why");

    if (why)
        return why;
    why = find_reason(recording, path);
    recording_note(recording, "why", why);
    return why;
}
