#include "hooks/resolver.h"

#include <stdint.h>

#include "hooks/generated.h"
#include "support/windows/ntdll.h"

#define SET_RESOLVER "?SetReturnAddressLocationResolver@V8@v8@@SAXP6A_K_K@Z@Z"

typedef void set_resolver_fn(uint64_t (*resolver)(uint64_t location));

bool resolver_set(void)
{
    static const wchar_t *const names[] = {NULL, L"libnode.dll"}; /* NULL: the program itself */
    bool is_set = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        HMODULE image = GetModuleHandleW(names[i]);
        FARPROC found = image ? GetProcAddress(image, SET_RESOLVER) : NULL;

        if (!found)
            continue;
        ((set_resolver_fn *)(void (*)(void))found)(generated_true_location);
        is_set = true;
    }
    return is_set;
}
