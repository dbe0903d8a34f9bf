#include "hooks/resolver.h"

#include <stdint.h>

#include "hooks/generated.h"
#include "support/windows/ntdll.h"

/* Of words of 64 bits, and of 32. */
#define SET_RESOLVER      "?SetReturnAddressLocationResolver@V8@v8@@SAXP6A_K_K@Z@Z"
#define SET_RESOLVER_I386 "?SetReturnAddressLocationResolver@V8@v8@@SAXP6AII@Z@Z"

typedef void set_resolver_fn(uintptr_t (*resolver)(uintptr_t location));

static uintptr_t resolve(uintptr_t location)
{
    return (uintptr_t)generated_true_location(location);
}

static FARPROC find_in(HMODULE image)
{
    FARPROC found = GetProcAddress(image, SET_RESOLVER);

    return found ? found : GetProcAddress(image, SET_RESOLVER_I386);
}

bool resolver_set(void)
{
    static const wchar_t *const names[] = {NULL, L"libnode.dll"}; /* NULL: the program itself */
    bool is_set = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        HMODULE image = GetModuleHandleW(names[i]);
        FARPROC found = image ? find_in(image) : NULL;

        if (!found)
            continue;
        ((set_resolver_fn *)(void (*)(void))found)(resolve);
        is_set = true;
    }
    return is_set;
}
