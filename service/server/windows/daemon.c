/*
 * Windows cannot fork: the service begins anew, without a console, and finds by its environment
 * that it is the one in the background, and the event to set when it is ready.
 */
#include "service/server/daemon.h"

#include <windows.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/base/message.h"
#include "service/base/windows/error.h"

#define READY_VARIABLE L"UMBRA_SERVICE_READY"
#define PATH_COUNT     4096

struct inherited {
    HANDLE ready; /* an event */
    HANDLE standard_error;
};

static bool make_inherited(struct inherited *inherited)
{
    SECURITY_ATTRIBUTES inherit = {.nLength = sizeof(inherit), .bInheritHandle = TRUE};
    HANDLE ours = GetStdHandle(STD_ERROR_HANDLE);
    wchar_t value[24];

    inherited->standard_error = NULL;
    inherited->ready = CreateEventW(&inherit, TRUE, FALSE, NULL);
    if (!inherited->ready)
        return error_to_errno();
    if (ours && ours != INVALID_HANDLE_VALUE)
        DuplicateHandle(GetCurrentProcess(), ours, GetCurrentProcess(), &inherited->standard_error,
                        0, TRUE, DUPLICATE_SAME_ACCESS);
    _ui64tow((uintptr_t)inherited->ready, value, 10);
    return SetEnvironmentVariableW(READY_VARIABLE, value) || error_to_errno();
}

/* It gets these two handles and no other: who waits for the end of our output must not wait for
 * the service's. */
static bool create(struct inherited *inherited, PROCESS_INFORMATION *process)
{
    STARTUPINFOEXW start = {
        .StartupInfo = {.cb = sizeof(start),
                        .dwFlags = STARTF_USESTDHANDLES,
                        .hStdError = inherited->standard_error},
    };
    DWORD flags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP | EXTENDED_STARTUPINFO_PRESENT;
    SIZE_T size = 0, count = inherited->standard_error ? 2 : 1;
    wchar_t program[PATH_COUNT];
    wchar_t *line = _wcsdup(GetCommandLineW());
    BOOL ok = FALSE;

    InitializeProcThreadAttributeList(NULL, 1, 0, &size);
    start.lpAttributeList = malloc(size);
    if (line && start.lpAttributeList && GetModuleFileNameW(NULL, program, PATH_COUNT) &&
        InitializeProcThreadAttributeList(start.lpAttributeList, 1, 0, &size) &&
        UpdateProcThreadAttribute(start.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
                                  inherited, count * sizeof(HANDLE), NULL, NULL))
        ok = CreateProcessW(program, line, NULL, NULL, TRUE, flags, NULL, NULL, &start.StartupInfo,
                            process);
    if (!ok)
        error_to_errno();
    free(start.lpAttributeList);
    free(line);
    return ok;
}

static _Noreturn void wait_for(HANDLE daemon, HANDLE ready)
{
    HANDLE either[] = {ready, daemon};
    DWORD status = 0;

    if (WaitForMultipleObjects(2, either, FALSE, INFINITE) == WAIT_OBJECT_0)
        _exit(0);
    if (GetExitCodeProcess(daemon, &status) && status)
        _exit((int)status);
    message("the service ended before it was ready");
    _exit(1);
}

int daemon_begin(void)
{
    struct inherited inherited;
    PROCESS_INFORMATION process;
    wchar_t value[24];

    if (GetEnvironmentVariableW(READY_VARIABLE, value, sizeof(value) / sizeof(*value))) {
        SetEnvironmentVariableW(READY_VARIABLE, NULL);
        return (int)_wcstoui64(value, NULL, 10);
    }
    if (!make_inherited(&inherited) || !create(&inherited, &process)) {
        message("cannot split off a process: %s", strerror(errno));
        return -1;
    }
    wait_for(process.hProcess, inherited.ready);
}

void daemon_ready(int caller)
{
    int null = open("NUL", O_RDWR | O_BINARY);

    SetCurrentDirectoryW(L"\\");
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (null > STDERR_FILENO)
        close(null);
    SetEvent((HANDLE)(intptr_t)caller);
    CloseHandle((HANDLE)(intptr_t)caller);
}

int daemon_begin_beside(int *kept)
{
    (void)kept;
    return -1;
}
