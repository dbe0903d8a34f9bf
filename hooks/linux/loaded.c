#include "hooks/loaded.h"

#include "hooks/linux/attachment.h"
#include "hooks/linux/maps.h"
#include "hooks/memory.h"

/* Joins the mappings of one file to a module, from that of its first byte on. Others are no
   modules, nor are shared ones: the thunks, which are pages of the agent mapped once more. */
struct scan {
    void (*visit)(const struct loaded *loaded);
    char path[LOADED_PATH];
    uint64_t base, end;
    bool executable;
};

static void scan_close(struct scan *scan)
{
    const char *elsewhere = attachment_path(scan->base);
    struct loaded loaded = {scan->base, scan->end - scan->base, elsewhere ? elsewhere : scan->path};

    if (scan->executable)
        scan->visit(&loaded);
    scan->executable = false;
    scan->path[0] = 0;
}

static bool scan_mapping(const struct mapping *mapping, void *with)
{
    struct scan *scan = with;

    if (mapping->path[0] != '/' || mapping->protection[3] == 's')
        return true;
    if (mapping->offset == 0) {
        scan_close(scan);
        text_copy(scan->path, sizeof(scan->path), mapping->path);
        scan->base = mapping->start;
    } else if (!text_equal(mapping->path, scan->path)) {
        return true;
    }
    scan->end = mapping->end;
    scan->executable |= mapping->protection[2] == 'x';
    return true;
}

void loaded_each(void (*visit)(const struct loaded *))
{
    static struct scan scan;

    scan.visit = visit;
    scan.path[0] = 0;
    scan.executable = false;
    if (maps_each(scan_mapping, &scan))
        scan_close(&scan);
}

struct path_search {
    uint64_t address;
    char path[LOADED_PATH];
};

static bool find_path(const struct mapping *mapping, void *with)
{
    struct path_search *search = with;

    if (search->address >= mapping->end)
        return true;
    if (search->address >= mapping->start)
        text_copy(search->path, sizeof(search->path), mapping->path);
    return false;
}

const char *loaded_path(uint64_t base)
{
    static struct path_search search;
    const char *elsewhere = attachment_path(base);

    if (elsewhere)
        return elsewhere;
    search.address = base;
    search.path[0] = 0;
    maps_each(find_path, &search);
    return search.path[0] == '/' ? search.path : NULL;
}
