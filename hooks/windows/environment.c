#include "hooks/windows/environment.h"

#include "hooks/windows/text.h"
#include "support/windows/ntdll.h"

#define MOST_NAME  64
#define MOST_VALUE 4096

bool environment_get(const char *name, char *value, size_t size)
{
    static wchar_t wide[MOST_VALUE]; /* before threads matter, see start.c */
    wchar_t wide_name[MOST_NAME];
    DWORD length;

    if (!text_to_wide(wide_name, MOST_NAME, name))
        return false;
    length = GetEnvironmentVariableW(wide_name, wide, MOST_VALUE);
    if (!length || length >= MOST_VALUE)
        return false;
    text_from_wide(value, size, wide, length);
    return true;
}
