/* What the rewriter overwrites besides prologues, kept for the manifest so that it can be undone.
 */
#ifndef UMBRA_REWRITER_CHANGE_LIST_H
#define UMBRA_REWRITER_CHANGE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/image_manifest.h"

/* {0} is an empty one; free(items) ends it. */
struct change_list {
    struct manifest_change *items;
    size_t count, room;
};

/*
 * Notes `size` bytes of the file, which stand at file_offset and have not been overwritten yet; as
 * many entries as it takes. False if the manifest cannot name a place that far into the file.
 */
bool change_list_add(struct change_list *list, uint64_t file_offset, const uint8_t *original,
                     size_t size);

#endif
