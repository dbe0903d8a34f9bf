#include "front/known_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/memory.h"

static struct known_file *find(const struct known_files *files, const struct stat *status)
{
    struct known_file *found;
    struct file_id id;

    memset(&id, 0, sizeof(id)); /* it is hashed with what may lie between its members */
    id.device = status->st_dev;
    id.inode = status->st_ino;
    HASH_FIND(hh, files->table, &id, sizeof(id), found);
    return found;
}

const struct known_file *known_copy(const struct known_files *files, const struct stat *status)
{
    const struct known_file *found = find(files, status);

    return found && found->original >= 0 ? found : NULL;
}

bool known_is_left(const struct known_files *files, const struct stat *status)
{
    const struct known_file *found = find(files, status);

    return found && found->original < 0 && found->change.tv_sec == status->st_ctim.tv_sec &&
           found->change.tv_nsec == status->st_ctim.tv_nsec;
}

static struct known_file *add(struct known_files *files, const struct stat *status)
{
    struct known_file *file = find(files, status);

    if (file) {
        if (file->original >= 0)
            close(file->original);
        free(file->image);
        file->image = NULL;
        return file;
    }
    file = memory_zeroed(1, sizeof(*file));
    file->id.device = status->st_dev;
    file->id.inode = status->st_ino;
    HASH_ADD(hh, files->table, id, sizeof(file->id), file);
    return file;
}

void known_add_copy(struct known_files *files, const struct stat *copy, int original,
                    const char *image)
{
    struct known_file *file = add(files, copy);

    file->original = original;
    file->image = memory_copy_string(image);
}

void known_add_left(struct known_files *files, const struct stat *status)
{
    struct known_file *file = add(files, status);

    file->original = -1;
    file->change = status->st_ctim;
}
