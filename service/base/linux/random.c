#include "service/base/random.h"

#include <sys/random.h>

bool random_fill(void *bytes, size_t size)
{
    return getrandom(bytes, size, 0) == (ssize_t)size;
}
