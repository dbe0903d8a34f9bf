#include "hooks/windows/file.h"

#include "hooks/windows/text.h"
#include "thunkstash/windows/ntdll.h"

#define MOST_PATH 2048

void *file_open(const char *path, unsigned long access)
{
    static wchar_t wide[4 + MOST_PATH] = L"\\\\?\\"; /* no limit to a path's length */
    bool is_full = path[0] && path[1] == ':';

    if (!text_to_wide(wide + 4, MOST_PATH, path))
        return INVALID_HANDLE_VALUE;
    for (wchar_t *unit = wide + 4; *unit; unit++)
        if (*unit == '/')
            *unit = '\\';
    return CreateFileW(is_full ? wide : wide + 4, access,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, 0, OPEN_EXISTING, 0,
                       0);
}

bool file_read(const char *path, char *content, size_t size)
{
    HANDLE file = file_open(path, GENERIC_READ);
    DWORD got;
    bool read;

    if (file == INVALID_HANDLE_VALUE)
        return false;
    read = ReadFile(file, content, (DWORD)size - 1, &got, 0);
    CloseHandle(file);
    if (read)
        content[got] = 0;
    return read;
}
