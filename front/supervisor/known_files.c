#include "front/supervisor/known_files.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "support/memory.h"

/* An original that is being instrumented. */
struct made_file {
    struct file_id id;
    struct made_file *next;
};

struct known_table {
    pthread_mutex_t mutex;
    pthread_cond_t is_made; /* something is no longer in `made` */
    struct known_file *files;
    struct made_file *made;
};

struct known_files known_files_new(void)
{
    struct known_table *table = memory_zeroed(1, sizeof(*table));

    pthread_mutex_init(&table->mutex, NULL);
    pthread_cond_init(&table->is_made, NULL);
    return (struct known_files){table};
}

/* The identity is hashed with what may lie between its members: so that is zero. */
static struct file_id id_of(const struct stat *status)
{
    struct file_id id;

    memset(&id, 0, sizeof(id));
    id.device = status->st_dev;
    id.inode = status->st_ino;
    return id;
}

static struct known_file *find(const struct known_files *files, const struct stat *status)
{
    const struct file_id id = id_of(status);
    struct known_file *found;

    pthread_mutex_lock(&files->table->mutex);
    HASH_FIND(hh, files->table->files, &id, sizeof(id), found);
    pthread_mutex_unlock(&files->table->mutex);
    return found;
}

const struct known_file *known_copy(const struct known_files *files, const struct stat *status)
{
    const struct known_file *found = find(files, status);

    return found && found->original >= 0 ? found : NULL;
}

const struct known_file *known_copy_of(const struct known_files *files, const struct stat *original)
{
    struct file_id id = id_of(original);
    struct known_file *file, *next, *found = NULL;

    pthread_mutex_lock(&files->table->mutex);
    HASH_ITER(hh, files->table->files, file, next)
    {
        if (file->original >= 0 && memcmp(&file->original_id, &id, sizeof(id)) == 0)
            found = file; /* they are in the order in which they were added */
    }
    pthread_mutex_unlock(&files->table->mutex);
    return found;
}

bool known_is_left(const struct known_files *files, const struct stat *status)
{
    const struct known_file *found = find(files, status);

    return found && found->original < 0 && found->change.tv_sec == status->st_ctim.tv_sec &&
           found->change.tv_nsec == status->st_ctim.tv_nsec;
}

bool known_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_same_file(int a, int b)
{
    struct stat first, second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && known_is_same(&first, &second);
}

/* Another thread may use what was known of that file before, so that stays as it is. */
static void add(struct known_files *files, const struct stat *status, int original,
                const char *image)
{
    struct known_table *table = files->table;
    struct known_file *file = memory_zeroed(1, sizeof(*file));
    struct stat of_original;

    file->id = id_of(status);
    file->original = original;
    if (original >= 0 && fstat(original, &of_original) == 0)
        file->original_id = id_of(&of_original);
    file->image = image ? memory_copy_string(image) : NULL;
    file->change = status->st_ctim;
    pthread_mutex_lock(&table->mutex);
    HASH_FIND(hh, table->files, &file->id, sizeof(file->id), file->before);
    if (file->before)
        HASH_DELETE(hh, table->files, file->before);
    HASH_ADD(hh, table->files, id, sizeof(file->id), file);
    pthread_mutex_unlock(&table->mutex);
}

void known_add_copy(struct known_files *files, const struct stat *copy, int original,
                    const char *image)
{
    const struct known_file *before = known_copy(files, copy);

    if (before && is_same_file(before->original, original))
        close(original);
    else
        add(files, copy, original, image);
}

void known_add_left(struct known_files *files, const struct stat *status)
{
    if (!known_is_left(files, status))
        add(files, status, -1, NULL);
}

static struct made_file **find_made(struct known_table *table, const struct file_id *id)
{
    struct made_file **at = &table->made;

    while (*at && memcmp(&(*at)->id, id, sizeof(*id)) != 0)
        at = &(*at)->next;
    return at;
}

void known_begin(struct known_files *files, const struct stat *status)
{
    struct made_file *made = memory_zeroed(1, sizeof(*made));
    struct known_table *table = files->table;

    made->id = id_of(status);
    pthread_mutex_lock(&table->mutex);
    while (*find_made(table, &made->id))
        pthread_cond_wait(&table->is_made, &table->mutex);
    LL_PREPEND(table->made, made);
    pthread_mutex_unlock(&table->mutex);
}

void known_end(struct known_files *files, const struct stat *status)
{
    const struct file_id id = id_of(status);
    struct known_table *table = files->table;
    struct made_file **at, *made;

    pthread_mutex_lock(&table->mutex);
    at = find_made(table, &id);
    made = *at;
    *at = made->next;
    pthread_cond_broadcast(&table->is_made);
    pthread_mutex_unlock(&table->mutex);
    free(made);
}
