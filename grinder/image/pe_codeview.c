/* The debug directory's CodeView entry: which PDB is the image's. */
#include <stdlib.h>
#include <string.h>

#include "grinder/image/pe_file.h"
#include "support/memory.h"

#define MAX_ENTRIES 64u
#define MAX_PATH    4096u

static int read_entry(const struct pe_file *pe, const struct pe_debug *entry,
                      struct pe_codeview *codeview, char **path)
{
    uint32_t size = entry->size;
    char *bytes;

    if (entry->type != PE_DEBUG_CODEVIEW || size < sizeof(*codeview))
        return -1;
    if (size > sizeof(*codeview) + MAX_PATH)
        size = sizeof(*codeview) + MAX_PATH;
    bytes = bounded_file_copy(&pe->file, entry->raw, size);
    if (!bytes)
        return -1;
    memcpy(codeview, bytes, sizeof(*codeview));
    if (codeview->signature == PE_CODEVIEW_PDB70 && size > sizeof(*codeview))
        *path = memory_copy_string(bytes + sizeof(*codeview));
    free(bytes);
    return *path ? 0 : -1;
}

int pe_codeview_read(const struct pe_file *pe, struct pe_codeview *codeview, char **path)
{
    const struct pe_directory *directory = &pe->directories[PE_DEBUG];
    uint32_t count = directory->size / (uint32_t)sizeof(struct pe_debug);
    struct pe_debug *entries;
    int result = -1;

    *path = NULL;
    if (count > MAX_ENTRIES)
        count = MAX_ENTRIES;
    entries = pe_read(pe, directory->rva, count * (uint32_t)sizeof(*entries));
    for (uint32_t i = 0; entries && result < 0 && i < count; i++)
        result = read_entry(pe, &entries[i], codeview, path);
    free(entries);
    return result;
}
