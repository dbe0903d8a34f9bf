#include "support/private_group.h"

#include <grp.h>
#include <pwd.h>
#include <stddef.h>

/* Whether all whose first group it is are that user. Counts them. */
static bool count_first(gid_t group, uid_t user, size_t *members)
{
    const struct passwd *entry;
    bool ok = true;

    setpwent();
    while (ok && (entry = getpwent())) {
        ok = entry->pw_gid != group || entry->pw_uid == user;
        *members += entry->pw_gid == group;
    }
    endpwent();
    return ok;
}

/* Whether all whom the group lists are that user. A name that nobody has any more may be given to
   another. */
static bool count_listed(gid_t group, uid_t user, size_t *members)
{
    const struct group *entry = getgrgid(group);
    const struct passwd *member;

    if (!entry)
        return false;
    for (char **name = entry->gr_mem; *name; name++, ++*members) {
        member = getpwnam(*name);
        if (!member || member->pw_uid != user)
            return false;
    }
    return true;
}

bool group_is_private(gid_t group, uid_t user)
{
    size_t members = 0;

    return count_listed(group, user, &members) && count_first(group, user, &members) && members > 0;
}
