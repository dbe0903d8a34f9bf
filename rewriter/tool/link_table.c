#include "rewriter/tool/link_table.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"

const char *link_table_find(const struct link_table *table, const struct stat *status)
{
    if (status->st_nlink < 2)
        return NULL;
    for (size_t i = table->count; i > 0; i--) {
        const struct link_entry *entry = &table->entries[i - 1];

        if (entry->inode == status->st_ino && entry->device == status->st_dev)
            return entry->copy;
    }
    return NULL;
}

void link_table_add(struct link_table *table, const struct stat *status, const char *copy)
{
    struct link_entry entry = {.device = status->st_dev, .inode = status->st_ino};

    if (status->st_nlink < 2)
        return;
    entry.copy = memory_zeroed(strlen(copy) + 1, 1);
    strcpy(entry.copy, copy);
    table->entries = memory_grow(table->entries, table->count, &table->room, sizeof(entry));
    table->entries[table->count++] = entry;
}

void link_table_free(struct link_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->entries[i].copy);
    free(table->entries);
    *table = (struct link_table){0};
}
