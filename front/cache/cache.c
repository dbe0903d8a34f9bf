#include "front/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "front/base/making_line.h"
#include "front/base/say.h"
#include "front/cache/cached_image.h"
#include "front/cache/instrumenting.h"
#include "front/files/below.h"
#include "front/files/resemblance.h"
#include "support/memory.h"

#define LEFT        CACHE_LEFT_SUFFIX
#define MADE        "image" /* in a part's folder */
#define NAME_LENGTH (CACHE_KEY_LENGTH + sizeof(LEFT))

/* --- where it is --- */

static char *cache_folder(void)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const struct passwd *user;

    if (base && *base == '/')
        return memory_print("%s/umbra", base);
    if (!home || *home != '/') {
        user = getpwuid(geteuid());
        home = user ? user->pw_dir : NULL;
    }
    /* Some users have a home that must not exist: Debian's nobody. */
    return home && access(home, F_OK) == 0 ? memory_print("%s/.cache/umbra", home) : NULL;
}

/* Returns why it cannot be, or null. */
static const char *use(struct cache *cache, bool is_opened)
{
    if (!is_opened)
        return cache->folder.found;
    if (!trusted_folder_open_in(&cache->images, &cache->folder, "images"))
        return cache->images.found;
    return faccessat(cache->images.folder, ".", W_OK, AT_EACCESS) < 0 ? strerror(errno) : NULL;
}

bool cache_open_own(struct cache *cache, const char *lost)
{
    char *folder = cache_folder();
    const char *why = folder ? use(cache, trusted_folder_open(&cache->folder, folder))
                             : "there is no home directory";

    if (why)
        say("%s: the cache cannot be used: %s%s", folder ? folder : "~/.cache/umbra", why, lost);
    if (why && folder)
        cache_close(cache);
    free(folder);
    return !why;
}

void cache_close(struct cache *cache)
{
    trusted_folder_close(&cache->images);
    trusted_folder_close(&cache->folder);
}

void cache_open(struct cache *cache, const struct words *options, const char *apart)
{
    const char *why;

    *cache = (struct cache){.folder = {.folder = -1}, .images = {.folder = -1}};
    words_add_all(&cache->options, options->list);
    cache->tools = cache_tools_hash(options);
    if (cache_open_own(cache, "; what is instrumented is kept in the recording alone"))
        return;
    cache->is_apart = true;
    why = use(cache, trusted_folder_open_apart(&cache->folder, apart));
    if (why)
        say_and_exit(STATUS_FAILED, "%s: %s; set XDG_CACHE_HOME to a directory that can be used",
                     apart, why);
}

/* --- taking --- */

struct original {
    int file;
    const char *path;
    struct stat status;
    struct cache_key key;
};

static bool fits(int file, const struct original *original)
{
    const struct cached_origin origin = {(uint64_t)original->status.st_size,
                                         original->key.content_hash, original->path};

    return file_resembles(file, original->file, &original->status) &&
           cached_image_is_of(file, &origin);
}

static void note_use(int file)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};

    futimens(file, times);
}

/* Whatever has that name: opening it waits for nobody. */
static int open_name(int images, const char *name)
{
    return openat(images, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* What lies under the key, if it is what would be made; -1 if it is not. */
static int take(int images, const struct original *original)
{
    int file = open_name(images, original->key.text);

    if (file < 0)
        return -1;
    if (fits(file, original)) {
        note_use(file);
        return file;
    }
    close(file);
    return -1;
}

static void name_left(char name[NAME_LENGTH], const struct cache_key *key)
{
    snprintf(name, NAME_LENGTH, "%s" LEFT, key->text);
}

static bool is_reason(int file)
{
    struct stat status;

    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == geteuid() || status.st_uid == 0);
}

static bool read_reason(int images, const struct cache_key *key, char reason[CACHE_REASON_SIZE])
{
    char name[NAME_LENGTH];
    ssize_t length = -1;
    int file;

    name_left(name, key);
    file = open_name(images, name);
    if (file < 0)
        return false;
    if (is_reason(file))
        length = read(file, reason, CACHE_REASON_SIZE - 1);
    if (length >= 0) {
        reason[length] = 0;
        reason[strcspn(reason, "\n")] = 0;
        note_use(file);
    }
    close(file);
    return length >= 0;
}

/* --- making --- */

/* The name of what is being made, to be freed. In containers that share a cache, pids are
   the same. */
static char *part_name(void)
{
    unsigned long long number = 0;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (unsigned long long)time(NULL) << 32 | (unsigned)getpid();
    return memory_print(CACHE_PART "%016llx", number);
}

static void write_reason(int images, const struct cache_key *key, const char *reason)
{
    char name[NAME_LENGTH], *part = part_name();
    int file = openat(images, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok;

    name_left(name, key);
    if (file >= 0) {
        ok = dprintf(file, "%s\n", reason) > 0;
        ok = close(file) == 0 && ok;
        if (!ok || renameat(images, part, images, name) < 0)
            unlinkat(images, part, 0);
    }
    free(part);
}

/* From what is open into the folder that is open, for who must not name another in between. */
static enum cached instrument(const struct cache *cache, int part, int original,
                              char reason[CACHE_REASON_SIZE])
{
    switch (instrumenting_run(&cache->options, original, part, MADE, reason)) {
    case INSTRUMENTING_DONE:
        return CACHED;
    case INSTRUMENTING_LEFT:
        return CACHED_LEFT;
    default:
        return CACHED_FAILED;
    }
}

/* Gives what was made its key. If another process was faster, what that one has made stays: its
   name may be linked to by now. Returns what has the key, or -1 with errno. */
static int publish(int images, int part, int made, const struct original *original)
{
    const char *key = original->key.text;
    int other;

    if (renameat2(part, MADE, images, key, RENAME_NOREPLACE) == 0)
        return made;
    other = errno == EEXIST ? take(images, original) : -1;
    if (other < 0)
        return renameat(part, MADE, images, key) == 0 ? made : -1;
    close(made);
    return other;
}

static int fail(char reason[CACHE_REASON_SIZE], const char *what)
{
    snprintf(reason, CACHE_REASON_SIZE, "%s: %s", what, strerror(errno));
    return -1;
}

/* What was made takes the original's place. -1 after a reason. */
static int settle(int images, int part, const struct original *original,
                  char reason[CACHE_REASON_SIZE])
{
    int made = open_name(part, MADE);
    int file;

    if (made < 0)
        return fail(reason, "what was made of it cannot be read");
    if (!file_resemble(made, original->file, &original->status))
        file = fail(reason, "its owner and its permissions cannot be given to a copy");
    else if (!fits(made, original))
        file = (snprintf(reason, CACHE_REASON_SIZE, "it changed while it was instrumented"), -1);
    else if ((file = publish(images, part, made, original)) < 0)
        fail(reason, "the cache cannot be written");
    if (file < 0)
        close(made);
    return file;
}

static enum cached make_in(struct cache *cache, int images, int part,
                           const struct original *original, int *file,
                           char reason[CACHE_REASON_SIZE])
{
    int place = making_line_add(original->path);
    enum cached cached = instrument(cache, part, original->file, reason);

    making_line_remove(place);
    if (cached == CACHED && (*file = settle(images, part, original, reason)) < 0)
        cached = CACHED_FAILED;
    if (cached == CACHED_LEFT)
        write_reason(images, &original->key, reason);
    if (cached == CACHED)
        cache->has_grown = true;
    return cached;
}

/* In a folder of its own: who takes `instrument` over by a hostile file may write to that. */
static enum cached make(struct cache *cache, int images, const struct original *original, int *file,
                        char reason[CACHE_REASON_SIZE])
{
    char *name = part_name();
    enum cached cached = CACHED_FAILED;
    int part = mkdirat(images, name, 0700) < 0
                   ? -1
                   : openat(images, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (part < 0) {
        fail(reason, "the cache cannot be written");
    } else {
        cached = make_in(cache, images, part, original, file, reason);
        below_empty(part);
        close(part);
    }
    unlinkat(images, name, AT_REMOVEDIR);
    free(name);
    return cached;
}

static enum cached look_at(struct original *original, const struct cache *cache,
                           char reason[CACHE_REASON_SIZE])
{
    if (fstat(original->file, &original->status) == 0 && original->status.st_size > CACHE_LARGEST) {
        snprintf(reason, CACHE_REASON_SIZE, "it has more than %lld bytes", CACHE_LARGEST);
        return CACHED_LEFT;
    }
    if (fstat(original->file, &original->status) == 0 &&
        cache_key_make(&original->key, &cache->tools, original->file, &original->status,
                       original->path))
        return CACHED;
    fail(reason, "cannot be read");
    return CACHED_FAILED;
}

static enum cached find_or_make(struct cache *cache, const struct original *original,
                                struct cached_file *copy, char reason[CACHE_REASON_SIZE])
{
    int images = trusted_folder_reach(&cache->images);
    enum cached cached = CACHED;

    if (images < 0) {
        fail(reason, "the cache cannot be reached");
        return CACHED_FAILED;
    }
    copy->file = take(images, original);
    if (copy->file < 0)
        cached = read_reason(images, &original->key, reason)
                     ? CACHED_LEFT
                     : make(cache, images, original, &copy->file, reason);
    close(images);
    return cached;
}

enum cached cache_get(struct cache *cache, int original, const char *path, struct cached_file *copy,
                      char reason[CACHE_REASON_SIZE])
{
    struct original looked_at = {.file = original, .path = path};
    enum cached cached = look_at(&looked_at, cache, reason);

    copy->file = -1;
    return cached == CACHED ? find_or_make(cache, &looked_at, copy, reason) : cached;
}
