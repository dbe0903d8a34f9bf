#include "service/base/random.h"

#include <windows.h>
#include <bcrypt.h>
#include <errno.h>

bool random_fill(void *bytes, size_t size)
{
    errno = EIO;
    return BCryptGenRandom(NULL, bytes, (ULONG)size, BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
}
