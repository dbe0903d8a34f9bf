/* What only this user may open. */
#ifndef UMBRA_SERVICE_WINDOWS_PRIVATE_H
#define UMBRA_SERVICE_WINDOWS_PRIVATE_H

#include <windows.h>
#include <stdbool.h>

/*
 * For new files and directories: one entry, all access for the user of this process, inherited by
 * what is made below, and nothing inherited from above. Null, errno set, if it cannot be made.
 */
SECURITY_ATTRIBUTES *private_attributes(void);

/* What an administrator makes may be of the group, which the token names as owner. */
bool private_is_own(PSID owner);

#endif
