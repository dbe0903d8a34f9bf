#include "rewriter/base/rights.h"

#include <stddef.h>
#include <sys/xattr.h>

#include "rewriter/base/say.h"

unsigned rights_of(int descriptor, const struct stat *status)
{
    unsigned rights = 0;

    if (status->st_mode & S_ISUID)
        rights |= RIGHTS_SET_UID;
    if (status->st_mode & S_ISGID)
        rights |= RIGHTS_SET_GID;
    if (fgetxattr(descriptor, "security.capability", NULL, 0) > 0)
        rights |= RIGHTS_CAPABILITIES;
    return rights;
}

void rights_say_dropped(const char *path, unsigned rights)
{
    static const char *const names[] = {
        "",
        "set-uid bit",
        "set-gid bit",
        "set-uid and set-gid bits",
    };
    unsigned bits = rights & (RIGHTS_SET_UID | RIGHTS_SET_GID);

    if (rights)
        say_note("%s: %s%s%s dropped: what was written runs with the rights of whoever starts it",
                 path, names[bits], bits && bits != rights ? " and " : "",
                 bits != rights ? "file capabilities" : "");
}
