#include "hooks/windows/file.h"

#include "hooks/windows/text.h"
#include "support/windows/ntdll.h"
#include "support/windows/private_file.h"

#define MOST_PATH 2048

/* Writes one `\\` for each separator, or for several, as Windows does, but behind a prefix. */
static void normalise_separators(wchar_t *path)
{
    wchar_t *to = path;

    for (const wchar_t *from = path; *from; from++) {
        bool is_separator = *from == '/' || *from == '\\';

        if (!is_separator)
            *to++ = *from;
        else if (to == path || to[-1] != '\\')
            *to++ = '\\';
    }
    *to = 0;
}

void *file_open(const char *path, unsigned long access)
{
    static wchar_t wide[4 + MOST_PATH] = L"\\\\?\\"; /* no limit to a path's length */
    bool is_full = path[0] && path[1] == ':';

    if (!text_to_wide(wide + 4, MOST_PATH, path))
        return INVALID_HANDLE_VALUE;
    if (is_full)
        normalise_separators(wide + 4);
    return CreateFileW(is_full ? wide : wide + 4, access,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       0, NULL);
}

/* What Linux makes up as it is read comes in parts. */
static bool read_all(HANDLE file, char *content, size_t size)
{
    size_t have = 0;
    DWORD got;

    do {
        if (!ReadFile(file, content + have, (DWORD)(size - 1 - have), &got, NULL))
            return false;
        have += got;
    } while (got && have < size - 1);
    content[have] = 0;
    return true;
}

static bool read_if(bool (*is_wanted)(void *), const char *path, char *content, size_t size)
{
    HANDLE file = file_open(path, GENERIC_READ);
    bool read;

    if (file == INVALID_HANDLE_VALUE)
        return false;
    read = (!is_wanted || is_wanted(file)) && read_all(file, content, size);
    CloseHandle(file);
    return read;
}

bool file_read(const char *path, char *content, size_t size)
{
    return read_if(NULL, path, content, size);
}

bool file_read_private(const char *path, char *content, size_t size)
{
    return read_if(private_file, path, content, size);
}

bool file_exists(const char *path)
{
    HANDLE file = file_open(path, 0);

    if (file == INVALID_HANDLE_VALUE)
        return false;
    CloseHandle(file);
    return true;
}
