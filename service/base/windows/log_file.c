#include "service/base/log_file.h"

#include <windows.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>

#include "service/base/windows/error.h"
#include "service/base/windows/private.h"
#include "service/base/windows/text.h"

int log_file_open(const char *path)
{
    wchar_t *wide = text_to_new_wide(path);
    HANDLE file;

    if (!wide || !private_attributes()) {
        free(wide);
        return -1;
    }
    file = CreateFileW(wide, FILE_APPEND_DATA,
                       FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, private_attributes(),
                       OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    free(wide);
    if (file == INVALID_HANDLE_VALUE) {
        error_to_errno();
        return -1;
    }
    return _open_osfhandle((intptr_t)file, _O_APPEND | _O_BINARY);
}

char *log_file_absolute(const char *path)
{
    wchar_t *wide = text_to_new_wide(path);
    wchar_t *absolute = wide ? _wfullpath(NULL, wide, 0) : NULL;
    char *text = absolute ? text_from_new_wide(absolute) : NULL;

    free(wide);
    free(absolute);
    return text;
}
