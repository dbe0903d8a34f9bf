/* Files of a tree that have several names, to give their copies several names too. */
#ifndef UMBRA_REWRITER_LINK_TABLE_H
#define UMBRA_REWRITER_LINK_TABLE_H

#include <stddef.h>
#include <sys/stat.h>

struct link_entry {
    dev_t device;
    ino_t inode;
    char *copy;
};

/* {0} is an empty one. */
struct link_table {
    struct link_entry *entries;
    size_t count, room;
};

/* Where the first name's copy is; null if this is the first. */
const char *link_table_find(const struct link_table *table, const struct stat *status);
/* For a file with several names; does nothing for others. */
void link_table_add(struct link_table *table, const struct stat *status, const char *copy);
void link_table_free(struct link_table *table);

#endif
