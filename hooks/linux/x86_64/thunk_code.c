#include "hooks/linux/thunk_code.h"

#include "hooks/guard.h"
#include "hooks/linux/attachment.h"
#include "hooks/linux/maps.h"
#include "hooks/memory.h"
#include "thunkstash/layout.h"
#include "thunkstash/linux/linux_pages.h"

#define PATH_SIZE 4096

extern const char umbra_thunk_code[] __attribute__((visibility("hidden")));

struct own_file {
    uint64_t address;
    uint64_t offset;
    char path[PATH_SIZE];
};

static bool find_own_file(const struct mapping *mapping, void *with)
{
    struct own_file *own = with;

    if (own->address >= mapping->end)
        return true;
    if (own->address >= mapping->start) {
        own->offset = mapping->offset + (own->address - mapping->start);
        text_copy(own->path, sizeof(own->path), mapping->path);
    }
    return false;
}

/* The thunks, out of the agent's own file. */
void *thunk_code(void)
{
    static struct own_file own;
    void *mapped = attachment_thunks();
    struct guard guard;

    if (mapped)
        return mapped;
    guard = guard_take();
    own.address = (uintptr_t)umbra_thunk_code;
    maps_each(find_own_file, &own);
    guard_release(guard);
    return pages_map_file(own.path, own.offset, BLOCK_CODE_SIZE);
}
