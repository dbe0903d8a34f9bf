#include "grinder/symbols/pdb_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "grinder/image/recorded_path.h"
#include "support/memory.h"

/* A GUID's text: the first three fields are numbers, the rest are bytes. Then the age. */
#define GUID_TEXT 48

struct finding {
    struct pdb_file *pdb;
    struct pe_codeview codeview;
};

static void write_guid(char text[GUID_TEXT], const uint8_t guid[16], uint32_t age)
{
    static const int order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

    for (int i = 0; i < 16; i++)
        sprintf(text + 2 * i, "%02X", guid[order[i]]);
    sprintf(text + 32, "%X", age);
}

static int try_path(struct finding *finding, const char *path)
{
    char wanted[GUID_TEXT], found[GUID_TEXT];
    struct failure failure;

    if (access(path, F_OK) < 0)
        return -1;
    if (!pdb_open(finding->pdb, path, &failure)) {
        message("%s: %s; its names are not used", path, failure.text);
        return -1;
    }
    if (pdb_belongs_to(finding->pdb, &finding->codeview))
        return 0;
    write_guid(wanted, finding->codeview.guid, finding->codeview.age);
    write_guid(found, finding->pdb->info.guid,
               finding->pdb->dbi.age ? finding->pdb->dbi.age : finding->pdb->info.age);
    message("%s: is of another build: expected %s, found %s; its names are not used", path, wanted,
            found);
    pdb_close(finding->pdb);
    return -1;
}

/* Takes the path over. */
static int try(struct finding *finding, char *path)
{
    int result = try_path(finding, path);

    free(path);
    return result;
}

static int try_beside(struct finding *finding, const char *path, const char *name)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? try(finding, memory_print("%.*s/%s", (int)(slash - path), path, name)) : -1;
}

static int try_recorded(struct finding *finding, const char *recorded, const char *const *path_maps)
{
    char *path = recorded_path_find(recorded, recorded_path_system(recorded), path_maps);

    return path ? try(finding, path) : -1;
}

static int try_dir(struct finding *finding, const char *dir, const char *name)
{
    char guid[GUID_TEXT];

    write_guid(guid, finding->codeview.guid, finding->codeview.age);
    if (try(finding, memory_print("%s/%s", dir, name)) == 0)
        return 0;
    return try(finding, memory_print("%s/%s/%s/%s", dir, name, guid, name));
}

int pdb_find(struct pdb_file *pdb, const struct pdb_search *search, const struct pe_file *pe)
{
    struct finding finding = {.pdb = pdb};
    char *recorded = NULL;
    const char *name;
    int result;

    if (pe_codeview_read(pe, &finding.codeview, &recorded) < 0 || !*recorded) {
        free(recorded);
        return -1;
    }
    name = recorded_path_name(recorded, TRACE_SYSTEM_WINDOWS);
    result = try_beside(&finding, search->image_path, name);
    if (result < 0)
        result = try_beside(&finding, search->original_path, name);
    if (result < 0 && name != recorded)
        result = try_recorded(&finding, recorded, search->path_maps);
    for (size_t i = 0; result < 0 && search->debug_dirs[i]; i++)
        result = try_dir(&finding, search->debug_dirs[i], name);
    free(recorded);
    return result;
}
