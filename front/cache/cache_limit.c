#include "front/cache/cache_limit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/files/below.h"
#include "support/memory.h"

#define CACHE_LIMIT (4ull << 30)
#define PART_LIFE   3600 /* seconds after which one was left behind */

/* --- what it holds --- */

struct entry {
    char *name;
    struct timespec used;
    uint64_t bytes;
};

struct entries {
    struct entry *list;
    size_t count, room;
    uint64_t bytes;
};

static void entries_free(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        free(entries->list[i].name);
    free(entries->list);
}

static bool is_part(const char *name)
{
    return !strncmp(name, CACHE_PART, sizeof(CACHE_PART) - 1);
}

static bool is_forgotten(const char *name, const struct stat *status)
{
    return is_part(name) && status->st_ctime + PART_LIFE < time(NULL);
}

/* Nothing is removed that the cache has not made. Earlier versions had keys of half the length. */
static bool is_entry(const char *name)
{
    size_t length = strspn(name, "0123456789abcdef");

    return (length == CACHE_KEY_LENGTH || length == CACHE_KEY_LENGTH / 2) &&
           (!name[length] || !strcmp(name + length, CACHE_LEFT_SUFFIX));
}

/* Removes files of a process that was killed. Nobody else can write there. */
static void remove_forgotten(int images, const char *name)
{
    int part = openat(images, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (part >= 0) {
        below_empty(part);
        close(part);
    }
    unlinkat(images, name, part >= 0 ? AT_REMOVEDIR : 0);
}

static void entries_read(struct entries *entries, DIR *directory)
{
    struct dirent *found;
    struct stat status;

    while ((found = readdir(directory))) {
        if (fstatat(dirfd(directory), found->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (is_forgotten(found->d_name, &status))
            remove_forgotten(dirfd(directory), found->d_name);
        if (!S_ISREG(status.st_mode) || !is_entry(found->d_name))
            continue;
        entries->list =
            memory_grow(entries->list, entries->count, &entries->room, sizeof(*entries->list));
        entries->list[entries->count++] = (struct entry){
            memory_copy_string(found->d_name), status.st_atim, (uint64_t)status.st_blocks * 512};
        entries->bytes += (uint64_t)status.st_blocks * 512;
    }
}

/* --- keeping within the limit --- */

static int by_use(const void *a, const void *b)
{
    const struct timespec *first = &((const struct entry *)a)->used;
    const struct timespec *second = &((const struct entry *)b)->used;

    if (first->tv_sec != second->tv_sec)
        return first->tv_sec < second->tv_sec ? -1 : 1;
    return (first->tv_nsec > second->tv_nsec) - (first->tv_nsec < second->tv_nsec);
}

/* A regular file of ours in the cache's folder, or -1: nothing else is read or waited for. */
static int open_own_file(const struct cache *cache, const char *name, int flags)
{
    int file = openat(cache->folder.folder, name,
                      flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    struct stat status;

    if (file < 0)
        return -1;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        (status.st_uid == geteuid() || status.st_uid == 0))
        return file;
    close(file);
    return -1;
}

static uint64_t read_limit(const struct cache *cache)
{
    int file = open_own_file(cache, "limit", O_RDONLY);
    char text[64] = "";
    unsigned long long limit;

    if (file < 0)
        return CACHE_LIMIT;
    if (read(file, text, sizeof(text) - 1) < 0 || sscanf(text, "%llu", &limit) != 1)
        limit = CACHE_LIMIT;
    close(file);
    return limit;
}

/* Another takes the old one's place, whatever that is. */
static bool write_limit(const struct cache *cache, uint64_t limit)
{
    int folder = cache->folder.folder;
    char *part = memory_print("limit-%d", (int)getpid());
    int file, error;
    bool ok;

    unlinkat(folder, part, 0);
    file = open_own_file(cache, part, O_WRONLY | O_CREAT | O_EXCL);
    ok = file >= 0 && dprintf(file, "%llu\n", (unsigned long long)limit) > 0 &&
         renameat(folder, part, folder, "limit") == 0;
    error = errno;
    if (file >= 0)
        close(file);
    if (!ok)
        unlinkat(folder, part, 0);
    free(part);
    errno = error;
    return ok;
}

static DIR *open_images(const struct cache *cache)
{
    int images = openat(cache->images.folder, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = images >= 0 ? fdopendir(images) : NULL;

    if (images >= 0 && !directory)
        close(images);
    return directory;
}

/* With a limit of 0 also those that take no blocks. */
static void remove_least_used(struct entries *entries, int images, uint64_t limit)
{
    if (entries->bytes > limit)
        qsort(entries->list, entries->count, sizeof(*entries->list), by_use);
    for (size_t i = 0; i < entries->count && (entries->bytes > limit || limit == 0); i++)
        if (unlinkat(images, entries->list[i].name, 0) == 0)
            entries->bytes -= entries->list[i].bytes;
}

static void trim_to(const struct cache *cache, uint64_t limit)
{
    struct entries entries = {0};
    DIR *directory = open_images(cache);

    if (!directory)
        return;
    entries_read(&entries, directory);
    remove_least_used(&entries, dirfd(directory), limit);
    closedir(directory);
    entries_free(&entries);
}

/* Who finds another at it leaves it to that one: a recording waits for nobody. */
void cache_trim(struct cache *cache)
{
    int lock;

    if (!cache->has_grown || cache->is_apart)
        return;
    cache->has_grown = false;
    lock = open_own_file(cache, "lock", O_RDWR | O_CREAT);
    if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0)
        trim_to(cache, read_limit(cache));
    if (lock >= 0)
        close(lock);
}

/* --- umbra cache --- */

int cache_show(void)
{
    struct cache cache = {0};
    struct entries entries = {0};
    DIR *directory;

    if (!cache_open_own(&cache, ""))
        return STATUS_FAILED;
    directory = open_images(&cache);
    if (directory) {
        entries_read(&entries, directory);
        closedir(directory);
    }
    printf("%s: %zu files, %.1f MB of at most %.1f MB\n", cache.folder.path, entries.count,
           (double)entries.bytes / 1e6, (double)read_limit(&cache) / 1e6);
    entries_free(&entries);
    cache_close(&cache);
    return 0;
}

int cache_clear(void)
{
    struct cache cache = {0};

    if (!cache_open_own(&cache, ""))
        return STATUS_FAILED;
    trim_to(&cache, 0);
    cache_close(&cache);
    return cache_show();
}

static bool parse_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMGT";
    const char *unit;
    int shift = 0;
    char *end;

    if (!strchr("0123456789", *text))
        return false;
    errno = 0;
    *size = strtoull(text, &end, 10);
    if (end == text || errno)
        return false;
    if (*end && (unit = strchr(units, *end)) && !end[1]) {
        shift = 10 * (int)(unit - units + 1);
        end++;
    }
    if (*size > UINT64_MAX >> shift)
        return false;
    *size <<= shift;
    return !*end;
}

int cache_set_limit(const char *text)
{
    struct cache cache = {0};
    uint64_t limit;

    if (!parse_size(text, &limit)) {
        say("--limit=%s: expected bytes, K, M, G or T may follow, as in --limit=2G", text);
        return STATUS_USAGE;
    }
    if (!cache_open_own(&cache, ""))
        return STATUS_FAILED;
    if (!write_limit(&cache, limit))
        say_and_exit(STATUS_FAILED, "%s/limit: cannot be written: %s", cache.folder.path,
                     strerror(errno));
    trim_to(&cache, limit);
    cache_close(&cache);
    return cache_show();
}
