#include "service/test_clients/test_mapping.h"

#include <windows.h>
#include <stddef.h>

#include "service/base/windows/error.h"
#include "service/base/windows/text.h"

#define WIDE_PATH 4096

static void *map(HANDLE file, uint64_t size)
{
    HANDLE section =
        CreateFileMappingW(file, NULL, PAGE_READWRITE, (DWORD)(size >> 32), (DWORD)size, NULL);
    void *view = section ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, size) : NULL;

    if (section)
        CloseHandle(section);
    return view;
}

void *test_mapping_open(const char *path, uint64_t size)
{
    wchar_t wide[WIDE_PATH] = L"Z:";
    HANDLE file;
    void *view;

    /* A service on Linux spells a path that begins with a slash. */
    if (!text_to_wide(wide + (*path == '/' ? 2 : 0), WIDE_PATH - 2, path))
        return NULL;
    file = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       0, NULL);
    view = file == INVALID_HANDLE_VALUE ? NULL : map(file, size);
    if (!view)
        error_to_errno();
    if (file != INVALID_HANDLE_VALUE)
        CloseHandle(file);
    return view;
}
