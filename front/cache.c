#include "front/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "front/say.h"
#include "front/tools.h"
#include "support/memory.h"

#define LEFT       ".left"
#define KEY_LENGTH 32
#define PART       "part-" /* begins the names of files that are being made */
#define PART_LIFE  3600    /* seconds after which one was left behind */
#define PIECE      (1 << 20)
#define MB         (1ull << 20)

#define BASE_MEMORY (512 * MB)
#define BASE_OUTPUT (64 * MB)
#define UNTOLD_SIZE (64 * MB) /* is taken for real, whatever a file takes on the disk */

#define STATUS_SIGNALED 128

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

static bool make_folders(const char *path)
{
    char *copy = memory_copy_string(path);
    bool ok;

    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(copy, 0700);
        *slash = '/';
    }
    ok = mkdir(copy, 0700) == 0 || errno == EEXIST;
    free(copy);
    return ok;
}

/* Whoever could change files there could change what this user executes. */
static const char *why_not_trusted(const char *path)
{
    struct statvfs system;
    struct stat status;

    if (stat(path, &status) < 0 || !S_ISDIR(status.st_mode))
        return "is not a directory";
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return "belongs to another user";
    if (status.st_mode & 022)
        return "may be written by others";
    if (statvfs(path, &system) == 0 && system.f_flag & ST_NOEXEC)
        return "is on a file system that executes nothing (noexec)";
    return NULL;
}

/* Sticky: who may write there can rename nothing. A private group is its user's alone. */
static bool can_be_replaced(const struct stat *above)
{
    if (above->st_uid != geteuid() && above->st_uid != 0)
        return true;
    if (above->st_mode & S_ISVTX)
        return false;
    return above->st_mode & 002 || (above->st_mode & 020 && above->st_gid != getegid());
}

/* Whoever could rename what is above could put another cache in its place at any time. */
static const char *why_not_kept(const char *path)
{
    char *above = realpath(path, NULL), *slash;
    const char *why = above ? NULL : strerror(errno);
    struct stat status;

    while (!why && above[1] && (slash = strrchr(above, '/'))) {
        slash[slash == above] = 0;
        if (stat(above, &status) < 0 || can_be_replaced(&status))
            why = "is in a directory in which another user can rename things";
    }
    free(above);
    return why;
}

/* Returns why it cannot be, or null. One that can only be read serves what it has. */
static const char *use_folder(struct cache *cache, char *folder)
{
    const char *why;

    cache->folder = folder;
    cache->images = memory_print("%s/images", folder);
    if (!make_folders(cache->images))
        return strerror(errno);
    why = why_not_trusted(cache->images);
    if (!why && !cache->is_apart)
        why = why_not_kept(cache->images);
    if (!why && access(cache->images, W_OK) < 0)
        why = strerror(errno);
    return why;
}

static void forget_folder(struct cache *cache)
{
    free(cache->folder);
    free(cache->images);
    cache->folder = cache->images = NULL;
}

/* --- keys --- */

/* Read and not mapped: its owner may cut it meanwhile. */
static bool hash_content(XXH3_state_t *state, int file)
{
    unsigned char *bytes = memory_zeroed(1, PIECE);
    off_t at = 0;
    ssize_t count;

    while ((count = pread(file, bytes, PIECE, at)) > 0 && at <= CACHE_LARGEST) {
        XXH3_128bits_update(state, bytes, (size_t)count);
        at += count;
    }
    free(bytes);
    if (count > 0)
        errno = EFBIG;
    return count == 0;
}

static XXH3_state_t *new_state(void)
{
    XXH3_state_t *state = memory_or_exit(XXH3_createState(), 1);

    XXH3_128bits_reset(state);
    return state;
}

static void hash_text(XXH3_state_t *state, const char *text)
{
    XXH3_128bits_update(state, text, strlen(text) + 1);
}

static void hash_tool(XXH3_state_t *state, const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || !hash_content(state, file))
        say_and_exit(STATUS_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    close(file);
    hash_text(state, path);
}

static uint64_t hash_tools(const struct words *options)
{
    const struct tools *tools = tools_find();
    XXH3_state_t *state = new_state();
    uint64_t hash;

    hash_tool(state, tools->instrument);
    hash_tool(state, tools->agent);
    for (size_t i = 0; i < options->count; i++) {
        const char *file = strncmp(options->list[i], "--filter=", 9) ? NULL : options->list[i] + 9;
        hash_text(state, options->list[i]);
        if (file)
            hash_tool(state, file);
    }
    hash = XXH3_128bits_digest(state).low64;
    XXH3_freeState(state);
    return hash;
}

static bool make_key(const struct cache *cache, int file, const struct stat *status,
                     const char *path, char key[KEY_LENGTH + 1])
{
    const int64_t facts[] = {(int64_t)cache->tools,  status->st_mode,
                             status->st_uid,         status->st_gid,
                             status->st_mtim.tv_sec, status->st_mtim.tv_nsec};
    XXH3_state_t *state = new_state();
    XXH128_hash_t hash;
    bool ok;

    XXH3_128bits_update(state, facts, sizeof(facts));
    hash_text(state, path);
    ok = hash_content(state, file);
    hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    snprintf(key, KEY_LENGTH + 1, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return ok;
}

void cache_open(struct cache *cache, const struct words *options, const char *apart)
{
    char *folder = cache_folder();
    const char *why = folder ? use_folder(cache, folder) : "there is no home directory";

    words_add_all(&cache->options, options->list);
    cache->tools = hash_tools(options);
    if (!why)
        return;
    say("%s: the cache cannot be used: %s; what is instrumented is kept in the recording alone",
        folder ? folder : "~/.cache/umbra", why);
    forget_folder(cache);
    cache->is_apart = true;
    why = use_folder(cache, memory_copy_string(apart));
    if (why)
        say_and_exit(STATUS_FAILED, "%s: %s; set XDG_CACHE_HOME to a directory that can be used",
                     apart, why);
}

/* --- taking and making --- */

static bool is_used(const char *path)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};

    return utimensat(AT_FDCWD, path, times, 0) == 0 || access(path, R_OK) == 0;
}

static bool read_reason(const char *path, char reason[CACHE_REASON_SIZE])
{
    FILE *file = fopen(path, "re");

    if (!file)
        return false;
    if (!fgets(reason, CACHE_REASON_SIZE, file))
        *reason = 0;
    reason[strcspn(reason, "\n")] = 0;
    fclose(file);
    is_used(path);
    return true;
}

/* The name of a file that is being made, to be freed. In containers that share a cache, pids are
   the same. */
static char *part_path(const struct cache *cache)
{
    unsigned long long number = 0;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        number = (unsigned long long)time(NULL) << 32 | (unsigned)getpid();
    return memory_print("%s/" PART "%016llx", cache->images, number);
}

static void write_reason(const struct cache *cache, const char *path, const char *reason)
{
    char *part = part_path(cache);
    FILE *file = fopen(part, "we");
    bool ok;

    if (file) {
        ok = fprintf(file, "%s\n", reason) > 0;
        ok = fclose(file) == 0 && ok;
        if (!ok || rename(part, path) < 0)
            unlink(part);
    }
    free(part);
}

/* What instrument said, without its own name and the file's: the last line. */
static void take_reason(char *said, const char *path, const struct tool_limits *limits,
                        char reason[CACHE_REASON_SIZE])
{
    char *line, *end = said + strlen(said);

    while (end > said && end[-1] == '\n')
        *--end = 0;
    line = strrchr(said, '\n');
    line = line ? line + 1 : said;
    if (!strncmp(line, "instrument: ", 12))
        line += 12;
    if (!strncmp(line, path, strlen(path)) && !strncmp(line + strlen(path), ": ", 2))
        line += strlen(path) + 2;
    if (strstr(line, "memory"))
        snprintf(reason, CACHE_REASON_SIZE, "%s; it may use %" PRIu64 " MB", line,
                 limits->memory >> 20);
    else
        snprintf(reason, CACHE_REASON_SIZE, "%s", *line ? line : "instrument failed");
}

/* "OUT: N functions found, N hooked, …" */
static bool hooks_nothing(const char *said)
{
    return strstr(said, " found, 0 hooked, ") != NULL;
}

/* What instrument says of the file that it writes, as of a full disk, is no property of the
   original and is not to be kept. */
static bool is_about(const char *reason, const char *path)
{
    return !strncmp(reason, path, strlen(path));
}

static char *why_too_large(const struct tool_limits *limits)
{
    return memory_print("instrument wrote more than %" PRIu64 " MB", limits->output >> 20);
}

/* What a limit, or a fault of instrument, ended. The same file would end it again. Null: something
   else did, which says nothing of the file. */
static char *why_ended(int status, const char *said, const struct tool_limits *limits)
{
    if (status == STATUS_FAILED && strstr(said, strerror(EFBIG)))
        return why_too_large(limits);
    switch (status - STATUS_SIGNALED) {
    case TOOL_TOO_LONG - STATUS_SIGNALED:
        return memory_print("instrument took longer than %u s", limits->seconds);
    case SIGXCPU:
        return memory_print("instrument took more than %u s of processor time",
                            limits->processor_seconds);
    case SIGXFSZ:
        return why_too_large(limits);
    case SIGSEGV:
    case SIGBUS:
    case SIGABRT:
    case SIGILL:
    case SIGFPE:
    case SIGSYS:
        return memory_print("instrument crashed (signal %d)", status - STATUS_SIGNALED);
    }
    return NULL;
}

/* By what it takes on the disk: a hole costs nothing, and could be as large as one likes. Some file
   systems do not tell. libLLVM 14, of 110 MB, takes 0.9 GB. */
static struct tool_limits limits_for(int original)
{
    struct stat status = {0};
    uint64_t size, taken;

    fstat(original, &status);
    size = (uint64_t)status.st_size < UNTOLD_SIZE ? (uint64_t)status.st_size : UNTOLD_SIZE;
    taken = (uint64_t)status.st_blocks * 512;
    size = taken > size ? taken : size;
    return (struct tool_limits){.memory = BASE_MEMORY + 16 * size,
                                .output = BASE_OUTPUT + 4 * size,
                                .processor_seconds = 300,
                                .seconds = 600};
}

static void add_options(struct words *words, const struct cache *cache, const char *part,
                        const char *path)
{
    const struct tools *tools = tools_find();

    words_add(words, tools->instrument);
    words_print(words, "--agent=%s", tools->agent);
    words_add_all(words, cache->options.list);
    words_add(words, "--confined");
    words_add(words, "--overwrite");
    words_add(words, "-o");
    words_add(words, part);
    words_add(words, "--");
    words_add(words, path);
}

/* Of what instrument said and how it ended. */
static enum cached judge(int status, char *said, const char *path, const char *part,
                         const struct tool_limits *limits, char reason[CACHE_REASON_SIZE])
{
    char *why = why_ended(status, said, limits);

    if (status == 0 && !hooks_nothing(said))
        return CACHED;
    if (status == 0)
        snprintf(reason, CACHE_REASON_SIZE, "no function in it is to be hooked");
    else if (why)
        snprintf(reason, CACHE_REASON_SIZE, "%s", why);
    else
        take_reason(said, path, limits, reason);
    if (status != 0 && !why && (status != STATUS_FAILED || is_about(reason, part)))
        return CACHED_FAILED;
    free(why);
    return CACHED_LEFT;
}

/* What is open, and not what its path leads to by now: another user may have put a link to what he
   must not read in its place, and the copy is to be his. */
static enum cached instrument(const struct cache *cache, int original, const char *part,
                              char reason[CACHE_REASON_SIZE])
{
    const struct tool_limits limits = limits_for(original);
    char *path = memory_print("/proc/self/fd/%d", original);
    struct words words = {0};
    enum cached cached;
    char said[8192];
    int status;

    add_options(&words, cache, part, path);
    status = tool_run_limited(words.list, original, &limits, said, sizeof(said));
    words_free(&words);
    cached = judge(status, said, path, part, &limits, reason);
    free(path);
    return cached;
}

/* The time of the original, and as far as allowed its owner: it takes the original's place. EINVAL:
   a user namespace has no number for him. */
static bool resemble(const char *part, const struct stat *original)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_NOW}, original->st_mtim};

    if (lchown(part, original->st_uid, original->st_gid) < 0 && geteuid() == 0 && errno != EINVAL)
        return false;
    return chmod(part, original->st_mode & 0777) == 0 && utimensat(AT_FDCWD, part, times, 0) == 0;
}

static enum cached make(struct cache *cache, int file, const struct stat *original,
                        const char *result, char reason[CACHE_REASON_SIZE])
{
    char *part = part_path(cache);
    char *left = memory_print("%s" LEFT, result);
    enum cached cached = instrument(cache, file, part, reason);

    if (cached == CACHED && (!resemble(part, original) || rename(part, result) < 0)) {
        snprintf(reason, CACHE_REASON_SIZE, "%s: %s", result, strerror(errno));
        cached = CACHED_FAILED;
    }
    if (cached != CACHED)
        unlink(part);
    if (cached == CACHED_LEFT)
        write_reason(cache, left, reason);
    free(left);
    free(part);
    cache->has_grown |= cached == CACHED;
    return cached;
}

enum cached cache_get(struct cache *cache, int original, const char *path, char result[PATH_MAX],
                      char reason[CACHE_REASON_SIZE])
{
    char key[KEY_LENGTH + 1], *left;
    struct stat status;
    bool is_left;

    if (fstat(original, &status) == 0 && status.st_size > CACHE_LARGEST) {
        snprintf(reason, CACHE_REASON_SIZE, "it has more than %lld bytes", CACHE_LARGEST);
        return CACHED_LEFT;
    }
    if (fstat(original, &status) < 0 || !make_key(cache, original, &status, path, key)) {
        snprintf(reason, CACHE_REASON_SIZE, "cannot be read: %s", strerror(errno));
        return CACHED_FAILED;
    }
    snprintf(result, PATH_MAX, "%s/%s", cache->images, key);
    if (is_used(result))
        return CACHED;
    left = memory_print("%s" LEFT, result);
    is_left = read_reason(left, reason);
    free(left);
    return is_left ? CACHED_LEFT : make(cache, original, &status, result, reason);
}

/* --- keeping within the limit --- */

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

static bool is_forgotten(const char *name, const struct stat *status)
{
    return !strncmp(name, PART, sizeof(PART) - 1) && status->st_ctime + PART_LIFE < time(NULL);
}

static void entries_read(struct entries *entries, DIR *directory)
{
    struct dirent *found;
    struct stat status;

    while ((found = readdir(directory))) {
        if (fstatat(dirfd(directory), found->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (is_forgotten(found->d_name, &status))
            unlinkat(dirfd(directory), found->d_name, 0);
        if (!strncmp(found->d_name, PART, sizeof(PART) - 1))
            continue;
        entries->list =
            memory_grow(entries->list, entries->count, &entries->room, sizeof(*entries->list));
        entries->list[entries->count++] = (struct entry){
            memory_copy_string(found->d_name), status.st_atim, (uint64_t)status.st_blocks * 512};
        entries->bytes += (uint64_t)status.st_blocks * 512;
    }
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *first = &((const struct entry *)a)->used;
    const struct timespec *second = &((const struct entry *)b)->used;

    if (first->tv_sec != second->tv_sec)
        return first->tv_sec < second->tv_sec ? -1 : 1;
    return (first->tv_nsec > second->tv_nsec) - (first->tv_nsec < second->tv_nsec);
}

static uint64_t read_limit(const struct cache *cache)
{
    char *path = memory_print("%s/limit", cache->folder);
    FILE *file = fopen(path, "re");
    unsigned long long limit;

    if (!file || fscanf(file, "%llu", &limit) != 1)
        limit = CACHE_LIMIT;
    if (file)
        fclose(file);
    free(path);
    return limit;
}

/* Returns how many bytes are left. */
static uint64_t trim_to(const struct cache *cache, uint64_t limit)
{
    char *path = memory_print("%s/lock", cache->folder);
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct entries entries = {0};
    DIR *directory = opendir(cache->images);

    if (lock >= 0)
        flock(lock, LOCK_EX);
    if (directory) {
        entries_read(&entries, directory);
        if (entries.bytes > limit)
            qsort(entries.list, entries.count, sizeof(*entries.list), by_use);
        for (size_t i = 0; i < entries.count && entries.bytes > limit; i++)
            if (unlinkat(dirfd(directory), entries.list[i].name, 0) == 0)
                entries.bytes -= entries.list[i].bytes;
        closedir(directory);
    }
    if (lock >= 0)
        close(lock);
    entries_free(&entries);
    free(path);
    return entries.bytes;
}

void cache_trim(struct cache *cache)
{
    if (cache->has_grown && !cache->is_apart)
        trim_to(cache, read_limit(cache));
    cache->has_grown = false;
}

/* --- umbra cache --- */

/* Returns false after a message if there is none. */
static bool open_own(struct cache *cache)
{
    char *folder = cache_folder();
    const char *why = folder ? use_folder(cache, folder) : "there is no home directory";

    if (why)
        say("%s: the cache cannot be used: %s", folder ? folder : "~/.cache/umbra", why);
    return !why;
}

int cache_show(void)
{
    struct cache cache = {0};
    struct entries entries = {0};
    DIR *directory;

    if (!open_own(&cache))
        return STATUS_FAILED;
    directory = opendir(cache.images);
    if (directory) {
        entries_read(&entries, directory);
        closedir(directory);
    }
    printf("%s: %zu files, %.1f MB of at most %.1f MB\n", cache.folder, entries.count,
           (double)entries.bytes / 1e6, (double)read_limit(&cache) / 1e6);
    entries_free(&entries);
    forget_folder(&cache);
    return 0;
}

int cache_clear(void)
{
    struct cache cache = {0};

    if (!open_own(&cache))
        return STATUS_FAILED;
    trim_to(&cache, 0);
    forget_folder(&cache);
    return cache_show();
}

static bool parse_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMGT";
    const char *unit;
    char *end;

    errno = 0;
    *size = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-')
        return false;
    if (*end && (unit = strchr(units, *end)) && !end[1]) {
        *size <<= 10 * (unit - units + 1);
        end++;
    }
    return !*end;
}

int cache_set_limit(const char *text)
{
    struct cache cache = {0};
    uint64_t limit;
    char *path;
    FILE *file;

    if (!parse_size(text, &limit)) {
        say("--limit=%s: expected bytes, K, M, G or T may follow, as in --limit=2G", text);
        return STATUS_USAGE;
    }
    if (!open_own(&cache))
        return STATUS_FAILED;
    path = memory_print("%s/limit", cache.folder);
    file = fopen(path, "we");
    if (!file || fprintf(file, "%llu\n", (unsigned long long)limit) < 0 || fclose(file) != 0)
        say_and_exit(STATUS_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    free(path);
    trim_to(&cache, limit);
    forget_folder(&cache);
    return cache_show();
}
