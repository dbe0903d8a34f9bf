#include "service/windows/private.h"

#include <aclapi.h>
#include <errno.h>
#include <sddl.h>
#include <stdio.h>
#include <string.h>

#include "service/message.h"
#include "service/windows/error.h"

#define SDDL_SIZE 256

union token_sid {
    TOKEN_USER user;
    TOKEN_OWNER owner;
    BYTE room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
};

static bool read_token(TOKEN_INFORMATION_CLASS what, union token_sid *sid)
{
    HANDLE token;
    DWORD size;
    bool ok;

    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return error_to_errno();
    ok = GetTokenInformation(token, what, sid, sizeof(*sid), &size);
    CloseHandle(token);
    return ok || error_to_errno();
}

/* D: the DACL. P: protected from what would be inherited. OICI: files and directories inherit. FA:
 * all access to files. */
static bool make_descriptor(PSECURITY_DESCRIPTOR *descriptor)
{
    union token_sid user;
    wchar_t sddl[SDDL_SIZE];
    wchar_t *sid;
    int length;

    if (!read_token(TokenUser, &user) || !ConvertSidToStringSidW(user.user.User.Sid, &sid))
        return error_to_errno();
    length = swprintf(sddl, SDDL_SIZE, L"D:P(A;OICI;FA;;;%ls)", sid);
    LocalFree(sid);
    return (length > 0 && ConvertStringSecurityDescriptorToSecurityDescriptorW(
                              sddl, SDDL_REVISION_1, descriptor, NULL)) ||
           error_to_errno();
}

SECURITY_ATTRIBUTES *private_attributes(void)
{
    static SECURITY_ATTRIBUTES attributes;

    if (!attributes.nLength && make_descriptor(&attributes.lpSecurityDescriptor))
        attributes.nLength = sizeof(attributes);
    return attributes.nLength ? &attributes : NULL;
}

/* What an administrator makes may be of the group, which the token names as owner. */
static bool is_ours(PSID owner)
{
    union token_sid sid;

    return (read_token(TokenUser, &sid) && EqualSid(owner, sid.user.User.Sid)) ||
           (read_token(TokenOwner, &sid) && EqualSid(owner, sid.owner.Owner));
}

static bool check_owner(const wchar_t *path)
{
    PSECURITY_DESCRIPTOR descriptor;
    PSID owner = NULL;
    bool ours;

    if (GetNamedSecurityInfoW((wchar_t *)path, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner,
                              NULL, NULL, NULL, &descriptor))
        return false;
    ours = owner && is_ours(owner);
    LocalFree(descriptor);
    return ours;
}

static bool is_plain_directory(const wchar_t *path)
{
    DWORD attributes = GetFileAttributesW(path);

    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) &&
           !(attributes & FILE_ATTRIBUTE_REPARSE_POINT);
}

/* As SetFileSecurity does it: what lies in the directory is ours already. */
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
