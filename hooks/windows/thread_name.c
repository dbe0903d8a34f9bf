#include "hooks/system.h"

#include "hooks/windows/text.h"
#include "support/windows/ntdll.h"
#include "thunkstash/windows/call_system.h"

#define THREAD_NAME_INFORMATION 38 /* Windows 10 1607; before, there are no names */
#define NAME_SIZE               256

struct description {
    UNICODE_STRING text;
    wchar_t units[NAME_SIZE];
};

static bool describe(uint32_t tid, struct description *description)
{
    HANDLE thread = OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, tid);
    NTSTATUS status;

    if (!thread)
        return false;
    status = NtQueryInformationThread(thread, (THREADINFOCLASS)THREAD_NAME_INFORMATION, description,
                                      sizeof(*description), NULL);
    CloseHandle(thread);
    return NT_SUCCESS(status);
}

void system_thread_name(uint32_t tid, char *name, size_t size)
{
    struct description description;

    if (CALL_SYSTEM(describe(tid, &description)) && description.text.Length)
        text_from_wide(name, size, description.text.Buffer,
                       description.text.Length / sizeof(*description.units));
}
