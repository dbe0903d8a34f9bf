/*
 * Images by the loader's own list. It is locked with a try: the caller holds the guard, and whoever
 * holds the loader's lock may be waiting for that. A list that cannot be had now is had next time,
 * at the latest at the process's end.
 */
#include "hooks/loaded.h"

#include "hooks/windows/text.h"
#include "support/windows/ntdll.h"
#include "thunkstash/windows/call_system.h"
#include "thunkstash/windows/teb.h"

#define TRY_ONLY 2
#define ACQUIRED 1

static bool lock(ULONG_PTR *cookie)
{
    ULONG disposition = 0;

    return NT_SUCCESS(CALL_SYSTEM(LdrLockLoaderLock(TRY_ONLY, &disposition, cookie))) &&
           disposition == ACQUIRED;
}

static void unlock(ULONG_PTR cookie)
{
    CALL_SYSTEM(LdrUnlockLoaderLock(0, cookie));
}

static const LIST_ENTRY *list_head(void)
{
    return &((const PEB *)teb_read(TEB_PROCESS))->Ldr->InMemoryOrderModuleList;
}

static uint64_t image_size(const void *base)
{
    const IMAGE_DOS_HEADER *start = base;
    const IMAGE_NT_HEADERS *headers = (const void *)((const char *)base + start->e_lfanew);

    return headers->OptionalHeader.SizeOfImage;
}

/* At each image, until visit returns false. */
static void each(bool (*visit)(const struct loaded *, void *), void *with)
{
    static char path[LOADED_PATH]; /* large for a stack, and the caller holds the guard */
    ULONG_PTR cookie;

    if (!lock(&cookie))
        return;
    for (const LIST_ENTRY *link = list_head()->Flink; link != list_head(); link = link->Flink) {
        const LDR_DATA_TABLE_ENTRY *entry =
            CONTAINING_RECORD(link, LDR_DATA_TABLE_ENTRY, InMemoryOrderLinks);
        struct loaded loaded = {(uintptr_t)entry->DllBase, image_size(entry->DllBase), path};

        text_from_wide(path, sizeof(path), entry->FullDllName.Buffer,
                       entry->FullDllName.Length / sizeof(wchar_t));
        if (!visit(&loaded, with))
            break;
    }
    unlock(cookie);
}

static bool hand_on(const struct loaded *loaded, void *with)
{
    ((void (*)(const struct loaded *))with)(loaded);
    return true;
}

void loaded_each(void (*visit)(const struct loaded *))
{
    each(hand_on, (void *)visit);
}

struct search {
    uint64_t base;
    const char *path;
};

static bool compare(const struct loaded *loaded, void *with)
{
    struct search *search = with;

    if (loaded->base != search->base)
        return true;
    search->path = loaded->path;
    return false;
}

const char *loaded_path(uint64_t base)
{
    struct search search = {base, NULL};

    each(compare, &search);
    return search.path;
}
