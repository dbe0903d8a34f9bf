#include "service/base/windows/private.h"

#include <aclapi.h>
#include <sddl.h>
#include <stdio.h>

#include "service/base/windows/error.h"

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

bool private_is_own(PSID owner)
{
    union token_sid sid;

    return (read_token(TokenUser, &sid) && EqualSid(owner, sid.user.User.Sid)) ||
           (read_token(TokenOwner, &sid) && EqualSid(owner, sid.owner.Owner));
}
