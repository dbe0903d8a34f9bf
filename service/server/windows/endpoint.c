#include "service/server/endpoint.h"

#include <winsock2.h>
#include <windows.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/file.h"
#include "service/base/message.h"
#include "service/base/tcp.h"
#include "service/base/windows/error.h"
#include "service/base/windows/private.h"
#include "service/base/windows/text.h"
#include "service/server/rendezvous.h"
#include "service/server/windows/private_directory.h"

/* %LOCALAPPDATA%\umbra */
static bool find_directory(wchar_t directory[ENDPOINT_PATH_SIZE])
{
    static const wchar_t name[] = L"\\umbra";
    DWORD room = ENDPOINT_PATH_SIZE - sizeof(name) / sizeof(*name);
    DWORD length = GetEnvironmentVariableW(L"LOCALAPPDATA", directory, room);

    errno = length ? ENAMETOOLONG : ENOENT;
    if (!length || length >= room)
        return false;
    wcscpy(directory + length, name);
    return true;
}

static bool find_paths(struct endpoint *endpoint, wchar_t directory[ENDPOINT_PATH_SIZE],
                       const char *instance)
{
    char start[ENDPOINT_PATH_SIZE];
    int length = 0;

    if (!find_directory(directory) || !text_from_wide(start, sizeof(start), directory))
        return false;
    length = snprintf(endpoint->rendezvous_path, ENDPOINT_PATH_SIZE, "%s\\%s.rendezvous", start,
                      instance);
    snprintf(endpoint->lock_path, ENDPOINT_PATH_SIZE, "%s\\%s.lock", start, instance);
    errno = ENAMETOOLONG;
    return length > 0 && length < ENDPOINT_PATH_SIZE;
}

/* 0 if there is none. */
static pid_t read_holder(const struct endpoint *endpoint)
{
    char pid[16] = {0};

    if (file_read_own(endpoint->lock_path, pid, sizeof(pid) - 1) <= 0)
        return 0;
    return (pid_t)strtoul(pid, NULL, 10);
}

static void report_lock(const struct endpoint *endpoint, const char *instance)
{
    error_to_errno();
    if (errno == EBUSY)
        message("instance %s: already served by pid %u: use that one, stop it, or choose another "
                "--instance-id",
                instance, (unsigned)read_holder(endpoint));
    else
        message("%s: cannot lock: %s", endpoint->lock_path, strerror(errno));
}

/* For those who come later; the lock holds without it. */
static void write_holder(int lock)
{
    char pid[16];

    snprintf(pid, sizeof(pid), "%lu", GetCurrentProcessId());
    file_write_at(lock, pid, strlen(pid), 0);
}

/* While it is open, nobody else can open it to write; the system removes it with its holder. */
static bool take_lock(struct endpoint *endpoint, const char *instance)
{
    wchar_t path[ENDPOINT_PATH_SIZE];
    HANDLE lock;

    if (!text_to_wide(path, ENDPOINT_PATH_SIZE, endpoint->lock_path))
        return false;
    lock = CreateFileW(
        path, GENERIC_WRITE | DELETE, FILE_SHARE_READ, private_attributes(), OPEN_ALWAYS,
        FILE_ATTRIBUTE_NORMAL | FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (lock == INVALID_HANDLE_VALUE) {
        report_lock(endpoint, instance);
        return false;
    }
    endpoint->lock = (int)(intptr_t)lock;
    write_holder(endpoint->lock);
    return true;
}

bool endpoint_open(struct endpoint *endpoint, const char *instance)
{
    wchar_t directory[ENDPOINT_PATH_SIZE];

    endpoint->lock = endpoint->listener = endpoint->spare = -1;
    if (!find_paths(endpoint, directory, instance)) {
        message("instance %s: expected LOCALAPPDATA to be the path of a directory, found: %s",
                instance, strerror(errno));
        return false;
    }
    return private_directory_make(directory) && take_lock(endpoint, instance);
}

void endpoint_close(struct endpoint *endpoint)
{
    file_close(endpoint->lock);
    endpoint->lock = -1;
}

int endpoint_connect(const char *instance, unsigned patience_s, struct connection_peer *peer)
{
    wchar_t directory[ENDPOINT_PATH_SIZE];
    struct rendezvous rendezvous;
    struct endpoint endpoint;

    if (!find_paths(&endpoint, directory, instance) || !tcp_begin())
        return -1;
    if (!rendezvous_read(endpoint.rendezvous_path, &rendezvous)) {
        if (errno == EPERM)
            message("%s: expected a file that this user alone may open, found another's: remove it",
                    endpoint.rendezvous_path);
        return -1;
    }
    *peer = (struct connection_peer){.pid = read_holder(&endpoint)};
    memcpy(peer->secret, rendezvous.secret, sizeof(peer->secret));
    memcpy(peer->proof, rendezvous.proof, sizeof(peer->proof));
    if (peer->pid)
        return tcp_connect(rendezvous.port, patience_s);
    errno = ECONNREFUSED; /* the file of a dead service, whose port may be another's by now */
    return -1;
}

bool endpoint_take_over(struct endpoint *endpoint, const char *instance, int listener)
{
    (void)listener;
    return endpoint_open(endpoint, instance);
}

int endpoint_hand_on(struct endpoint *endpoint)
{
    (void)endpoint;
    return -1;
}
