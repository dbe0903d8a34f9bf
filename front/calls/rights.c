#include "front/calls/rights.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One supervisor has one recording. */
static struct tracee_look own;
static unsigned filters; /* that every process of the recording has */
static atomic_bool some_have_landlock, all_may_have_landlock;

bool rights_begin(pid_t program)
{
    struct tracee_look look;

    if (!tracee_look(getpid(), &own) || !tracee_look(program, &look))
        return false;
    filters = look.filters;
    return true;
}

void rights_see_landlock(pid_t pid)
{
    struct tracee_look look;

    if (tracee_look(pid, &look) && look.has_no_new_privs)
        atomic_store(&some_have_landlock, true);
    else
        atomic_store(&all_may_have_landlock, true);
}

bool rights_are_free(pid_t pid, const struct tracee_look *look)
{
    if (look->filters > filters || atomic_load(&all_may_have_landlock) ||
        (look->has_no_new_privs && atomic_load(&some_have_landlock)))
        return false;
    return tracee_sees_ours(pid) && tracee_has_our_users(pid) && tracee_has_our_label(pid);
}

/* --- taking them ---
 *
 * The C library would change all threads; the system calls change the one that calls.
 */
static bool has_same_groups(const struct tracee_look *look)
{
    return look->group_count == own.group_count &&
           !memcmp(look->groups, own.groups, own.group_count * sizeof(*own.groups));
}

/* Those of the permitted rights become effective; all stay permitted. */
static bool make_effective(uint64_t rights)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) < 0)
        return false;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        data[i].effective = (uint32_t)(rights >> 32 * i) & data[i].permitted;
    return syscall(SYS_capset, &header, data) == 0;
}

static bool set_files_user(unsigned user)
{
    setfsuid(user);
    return (unsigned)setfsuid((uid_t)-1) == user;
}

static bool set_files_group(unsigned group)
{
    setfsgid(group);
    return (unsigned)setfsgid((gid_t)-1) == group;
}

static _Thread_local bool has_others_groups;

static bool set_groups(const struct tracee_look *look)
{
    return syscall(SYS_setgroups, look->group_count, look->groups) == 0;
}

static bool take_groups(const struct tracee_look *look)
{
    if (has_same_groups(look))
        return true;
    return has_others_groups = set_groups(look);
}

bool rights_take(const struct tracee_look *look)
{
    bool ok = take_groups(look) && set_files_group(look->group) && set_files_user(look->user) &&
              make_effective(look->rights);

    if (!ok)
        rights_give_back();
    return ok;
}

/* Setting the user raises and lowers capabilities, and the groups need one. */
void rights_give_back(void)
{
    if (!make_effective(own.rights) || !set_files_user(own.user) || !set_files_group(own.group) ||
        (has_others_groups && !set_groups(&own)) || !make_effective(own.rights))
        abort();
    has_others_groups = false;
}

bool rights_allow(int name, int access)
{
    return syscall(SYS_faccessat2, name, "", access, AT_EACCESS | AT_EMPTY_PATH) == 0;
}

int rights_open_path(const struct tracee_look *look, const struct tracee_path *path, int flags,
                     int access)
{
    int name;

    if (!rights_take(look))
        return -1;
    name = tracee_path_open(path, flags);
    if (name >= 0 && access != F_OK && !rights_allow(name, access)) {
        close(name);
        name = -1;
    }
    rights_give_back();
    return name;
}
