#include "service/launch/command.h"

#include <windows.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/message.h"
#include "service/base/windows/error.h"
#include "service/base/windows/text.h"
#include "service/launch/windows/child_ended.h"
#include "service/launch/windows/command_line.h"

#define STATUS_NOT_RUN   126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNALED  128

/* There is one command a service; until it is collected, nobody else can have its pid. */
static HANDLE command = NULL;
static HANDLE command_wait = NULL;

static VOID CALLBACK command_ended(PVOID unused, BOOLEAN timed_out)
{
    (void)unused;
    (void)timed_out;
    signals_child_ended();
}

static bool set_environment(const wchar_t *name, const char *value)
{
    wchar_t *wide = value ? text_to_new_wide(value) : NULL;
    bool ok = (wide || !value) && SetEnvironmentVariableW(name, wide);

    if (!ok && !value)
        ok = GetLastError() == ERROR_ENVVAR_NOT_FOUND;
    free(wide);
    return ok || error_to_errno();
}

/* CreateProcess takes a path with slashes for a name followed by options. */
static void turn_slashes(char *program)
{
    for (; *program; program++)
        *program = *program == '/' ? '\\' : *program;
}

static pid_t create(char **arguments)
{
    STARTUPINFOW start = {.cb = sizeof(start)};
    PROCESS_INFORMATION process;
    char *line;
    wchar_t *wide;
    BOOL ok;

    turn_slashes(arguments[0]);
    line = command_line_join(arguments);
    wide = line ? text_to_new_wide(line) : NULL;
    free(line);
    if (!wide)
        return 0;
    ok = CreateProcessW(NULL, wide, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process);
    if (!ok)
        error_to_errno();
    free(wide);
    if (!ok)
        return 0;
    CloseHandle(process.hThread);
    command = process.hProcess;
    return (pid_t)process.dwProcessId;
}

pid_t command_start(char **arguments, const char *instance, const char *rendezvous,
                    const struct signals *signals, int *exit_status)
{
    pid_t pid = 0;

    (void)signals;
    if (set_environment(L"UMBRA_INSTANCE_ID", instance) &&
        set_environment(L"UMBRA_RENDEZVOUS", rendezvous))
        pid = create(arguments);
    if (pid && RegisterWaitForSingleObject(&command_wait, command, command_ended, NULL, INFINITE,
                                           WT_EXECUTEONLYONCE))
        return pid;
    message("%s: cannot run the command: %s", arguments[0], strerror(errno));
    *exit_status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
    return 0;
}

/* There are no signals to be handed on. All that was recorded is kept, however a program ends. */
bool command_is_for_windows(char **arguments)
{
    (void)arguments;
    return true;
}

void command_signal(pid_t pid, int number)
{
    (void)pid;
    TerminateProcess(command, (UINT)(STATUS_SIGNALED + number));
}

bool command_has_ended(pid_t pid, int *exit_status)
{
    DWORD status;

    (void)pid;
    if (WaitForSingleObject(command, 0) != WAIT_OBJECT_0 || !GetExitCodeProcess(command, &status))
        return false;
    *exit_status = (int)status;
    UnregisterWait(command_wait);
    CloseHandle(command);
    command = NULL;
    return true;
}
