#include "service/base/windows/error.h"

#include <winsock2.h>
#include <windows.h>
#include <errno.h>

bool error_to_errno(void)
{
    static const struct {
        DWORD error;
        int number;
    } table[] = {
        {ERROR_FILE_NOT_FOUND, ENOENT},
        {ERROR_PATH_NOT_FOUND, ENOENT},
        {ERROR_INVALID_NAME, ENOENT},
        {ERROR_DIRECTORY, ENOTDIR},
        {ERROR_ACCESS_DENIED, EACCES},
        {ERROR_SHARING_VIOLATION, EBUSY},
        {ERROR_USER_MAPPED_FILE, EBUSY},
        {ERROR_FILE_EXISTS, EEXIST},
        {ERROR_ALREADY_EXISTS, EEXIST},
        {ERROR_DISK_FULL, EFBIG}, /* of a file to be extended: a smaller one may do */
        {ERROR_FILE_TOO_LARGE, EFBIG},
        {ERROR_INVALID_PARAMETER, EINVAL},
        {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
        {ERROR_OUTOFMEMORY, ENOMEM},
        {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
        {ERROR_BAD_EXE_FORMAT, ENOEXEC},
        {ERROR_HANDLE_EOF, ENODATA},
        {WSAEWOULDBLOCK, EAGAIN},
        {WSAETIMEDOUT, EAGAIN}, /* what tcp_connect's patience ends with */
        {WSAEINTR, EINTR},
        {WSAEMFILE, EMFILE},
        {WSAENOBUFS, ENOBUFS},
        {WSAECONNREFUSED, ECONNREFUSED},
        {WSAECONNRESET, ECONNRESET},
        {WSAECONNABORTED, ECONNRESET},
    };
    DWORD error = GetLastError();

    errno = EIO;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (table[i].error == error)
            errno = table[i].number;
    }
    return false;
}
