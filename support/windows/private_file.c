#include "support/windows/private_file.h"

#include "support/windows/ntdll.h"

#define DESCRIPTOR_SIZE 1024 /* of one with a longer list nobody need to know more */

/* S-1-5-18 and S-1-5-32-544: they can do with this process what they like anyway. */
static const SID local_system = {
    SID_REVISION, 1, {SECURITY_NT_AUTHORITY}, {SECURITY_LOCAL_SYSTEM_RID}};
static const struct {
    SID sid;
    DWORD second;
} administrators = {
    {SID_REVISION, 2, {SECURITY_NT_AUTHORITY}, {SECURITY_BUILTIN_DOMAIN_RID}},
    DOMAIN_ALIAS_RID_ADMINS,
};

union token_user {
    TOKEN_USER user;
    char room[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
};

static bool read_user(union token_user *user)
{
    HANDLE token;
    ULONG size;
    NTSTATUS status;

    if (!NT_SUCCESS(NtOpenProcessToken(THIS_PROCESS, TOKEN_QUERY, &token)))
        return false;
    status = NtQueryInformationToken(token, TokenUser, user, sizeof(*user), &size);
    NtClose(token);
    return NT_SUCCESS(status);
}

static bool is_trusted(void *sid, const union token_user *user)
{
    return RtlEqualSid(sid, user->user.User.Sid) || RtlEqualSid(sid, (void *)&local_system) ||
           RtlEqualSid(sid, (void *)&administrators);
}

/* Denials take nothing away from this; kinds of entry that nobody makes here do. */
static bool is_harmless(const ACE_HEADER *entry, const union token_user *user)
{
    ACCESS_ALLOWED_ACE *allowed = (ACCESS_ALLOWED_ACE *)entry;

    return entry->AceType == ACCESS_DENIED_ACE_TYPE ||
           (entry->AceType == ACCESS_ALLOWED_ACE_TYPE &&
            (!allowed->Mask || is_trusted(&allowed->SidStart, user)));
}

static bool is_closed(ACL *list, const union token_user *user)
{
    void *entry;

    for (ULONG i = 0; i < list->AceCount; i++)
        if (!NT_SUCCESS(RtlGetAce(list, i, &entry)) || !is_harmless(entry, user))
            return false;
    return true;
}

bool private_file(void *file)
{
    union {
        SECURITY_DESCRIPTOR head;
        char room[DESCRIPTOR_SIZE];
    } descriptor;
    union token_user user;
    BOOLEAN defaulted, present = FALSE;
    ACL *list = NULL;
    void *owner = NULL;
    ULONG size;

    return read_user(&user) &&
           NT_SUCCESS(NtQuerySecurityObject(file,
                                            OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                            &descriptor, sizeof(descriptor), &size)) &&
           NT_SUCCESS(RtlGetOwnerSecurityDescriptor(&descriptor, &owner, &defaulted)) && owner &&
           is_trusted(owner, &user) &&
           NT_SUCCESS(RtlGetDaclSecurityDescriptor(&descriptor, &present, &list, &defaulted)) &&
           present && list && is_closed(list, &user);
}
