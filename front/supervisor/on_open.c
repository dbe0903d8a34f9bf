#include "front/supervisor/on_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "front/calls/rights.h"
#include "front/supervisor/embedded_agent.h"
#include "front/supervisor/on_change.h"

static int open_again(int name, int flags)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", name);
    return open(path, flags | O_CLOEXEC);
}

/* The original, as the kernel would open it for the caller. */
static int open_original(const struct waiting_call *call, const struct known_file *copy,
                         const struct stat *status, int flags)
{
    struct tracee_look caller;
    int file;

    if (!call_may_be_served(call, &caller) ||
        !call_reaches(call, &caller, flags & O_NOFOLLOW, F_OK, status) || !rights_take(&caller))
        return -1;
    file = open_again(copy->original, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW));
    rights_give_back();
    return file;
}

/* The reader gets the original instead. Returns false if the call is to go on. */
static bool hand_over(const struct waiting_call *call, const struct known_file *copy,
                      const struct stat *status, int flags)
{
    int file = open_original(call, copy, status, flags);
    bool ok;

    if (file < 0)
        return false;
    ok = call_end_with_file(call, file, flags);
    close(file);
    return ok;
}

/* The dynamic linker of glibc and musl opens with these flags. */
static bool opens_as_linker(int flags)
{
    return (flags & (O_ACCMODE | O_CLOEXEC | O_CREAT)) == (O_RDONLY | O_CLOEXEC);
}

/* Whether the dynamic linker opens, to map what it opens; one that is found is kept. */
static bool find_linker(const struct waiting_call *call, int flags)
{
    uint64_t instruction = call->data.instruction_pointer;
    struct loaders *loaders = call->watch->loaders;
    struct tracee_linker linker;

    if (!opens_as_linker(flags))
        return false;
    if (loaders_have(loaders, call->pid, instruction))
        return true;
    if (!tracee_find_linker(call->pid, instruction, &linker) || call_is_traced(call))
        return false;
    loaders_add(loaders, call->pid, &linker);
    return true;
}

/* Whether a static program opens itself. */
static bool is_own_agent(const struct waiting_call *call, int name, const struct known_file *copy,
                         int flags)
{
    return opens_as_linker(flags) &&
           embedded_agent_has(name, copy->original, call->pid, call->data.instruction_pointer);
}

static bool is_elf(int name)
{
    struct image_look look;

    return image_look_at_path(&look, name) && look.kind == IMAGE_KIND_ELF;
}

/* Answers for a file that nobody has bound over. */
static void on_open_other(const struct waiting_call *call, int name, int flags,
                          const struct stat *status)
{
    struct tracee_look caller;
    struct image_look look;

    if (!opens_as_linker(flags) || !is_elf(name) || !find_linker(call, flags) ||
        call_is_left_alone(call) || !call_may_be_served(call, &caller))
        return;
    if (call_reaches(call, &caller, flags & O_NOFOLLOW, R_OK, status))
        placing_take(&call->watch->placing, call->notification, name, &look);
}

bool on_open(const struct waiting_call *call)
{
    const struct known_files *files = &call->watch->placing.files;
    int flags = (int)call->data.args[call->watched->flags];
    bool is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL); /* or it is EEXIST */
    bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    int name = is_new ? -1 : call_open_path(call, 0, flags & O_NOFOLLOW);
    const struct known_file *copy;
    struct stat status;
    bool is_answered = false;

    if (name < 0)
        return false;
    if (fstat(name, &status) == 0 && S_ISREG(status.st_mode)) {
        copy = known_copy(files, &status);
        if (copy && writes)
            is_answered = on_write(call, name, flags & O_NOFOLLOW, copy, &status);
        else if (!copy && writes)
            is_answered = on_write_below(call, flags & O_NOFOLLOW, &status);
        else if (copy && !find_linker(call, flags) && !is_own_agent(call, name, copy, flags))
            is_answered = hand_over(call, copy, &status, flags);
        else if (!copy && !writes && !known_is_left(files, &status))
            on_open_other(call, name, flags, &status);
    }
    close(name);
    return is_answered;
}
