#include "service/server/windows/private_directory.h"

#include <windows.h>
#include <aclapi.h>
#include <errno.h>
#include <string.h>

#include "service/base/message.h"
#include "service/base/windows/error.h"
#include "service/base/windows/private.h"

static bool check_owner(const wchar_t *path)
{
    PSECURITY_DESCRIPTOR descriptor;
    PSID owner = NULL;
    bool is_own;

    if (GetNamedSecurityInfoW((wchar_t *)path, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner,
                              NULL, NULL, NULL, &descriptor))
        return false;
    is_own = owner && private_is_own(owner);
    LocalFree(descriptor);
    return is_own;
}

static bool is_plain_directory(const wchar_t *path)
{
    DWORD attributes = GetFileAttributesW(path);

    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) &&
           !(attributes & FILE_ATTRIBUTE_REPARSE_POINT);
}

/* Sets it for the directory alone: what lies in it is ours already. */
static bool set_access(const wchar_t *path, const SECURITY_ATTRIBUTES *attributes)
{
    return SetFileSecurityW(path, DACL_SECURITY_INFORMATION, attributes->lpSecurityDescriptor);
}

bool private_directory_make(const wchar_t *path)
{
    SECURITY_ATTRIBUTES *attributes = private_attributes();

    if (attributes && CreateDirectoryW(path, attributes))
        return true;
    if (!attributes || GetLastError() != ERROR_ALREADY_EXISTS) {
        error_to_errno();
        message("%ls: cannot make the directory: %s", path, strerror(errno));
        return false;
    }
    if (is_plain_directory(path) && check_owner(path) && set_access(path, attributes))
        return true;
    message("%ls: expected a directory of this user, found a link, a file or another's: remove it",
            path);
    return false;
}
