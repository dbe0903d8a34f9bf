#include "hooks/linux/thunk_code.h"

#include "thunkstash/layout.h"

extern char umbra_stash[STASH_RANGE_SIZE] __attribute__((visibility("hidden")));

/* Each block's is its own. */
void *thunk_code(void)
{
    return umbra_stash;
}
