/*
 * Whether a group is one user's alone, as Debian gives each user one: then what its members may
 * write, nobody else may. As OpenSSH does it there.
 */
#ifndef UMBRA_SUPPORT_PRIVATE_GROUP_H
#define UMBRA_SUPPORT_PRIVATE_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* The group has a member, by the user database or by the group's own list, and each is that user.
   Where the database lists nobody, as a directory service's may, nothing is known: false. */
bool group_is_private(gid_t group, uid_t user);

#endif
