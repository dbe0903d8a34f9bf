#include "service/base/windows/text.h"

#include <windows.h>
#include <errno.h>
#include <stdlib.h>

static bool report(int converted)
{
    if (!converted)
        errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
    return converted != 0;
}

bool text_to_wide(wchar_t *wide, size_t count, const char *text)
{
    return report(MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, (int)count));
}

bool text_from_wide(char *text, size_t size, const wchar_t *wide)
{
    return report(
        WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, text, (int)size, NULL, NULL));
}

wchar_t *text_to_new_wide(const char *text)
{
    int count = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = report(count) ? calloc((size_t)count, sizeof(*wide)) : NULL;

    if (wide)
        text_to_wide(wide, (size_t)count, text);
    return wide;
}

char *text_from_new_wide(const wchar_t *wide)
{
    int size = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, NULL, 0, NULL, NULL);
    char *text = report(size) ? malloc((size_t)size) : NULL;

    if (text)
        text_from_wide(text, (size_t)size, wide);
    return text;
}
