#include "front/tool/without_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/base/say.h"
#include "front/base/tools.h"
#include "front/cache/cache.h"
#include "front/cache/cache_limit.h"
#include "front/files/below.h"
#include "front/files/image_kind.h"
#include "front/files/leave.h"
#include "front/files/trusted_folder.h"
#include "front/recording/recorded_image.h"
#include "support/memory.h"
#include "support/regular_file.h"

#define LIST_SIZE (1 << 20)

static const char *const linkers[PROCESSORS] = {
    [PROCESSOR_X86_64] = "/lib64/ld-linux-x86-64.so.2",
    [PROCESSOR_I386] = "/lib/ld-linux.so.2",
};

/* Instrumented files that do not take the places of their originals. */
struct substitutes {
    const struct recording *recording;
    struct cache cache;
    const struct words *leave;
    char *folder;  /* of libraries, by its path without links; null: they are left */
    int libraries; /* that folder, opened with O_PATH; -1: there is none */
};

/* The instrumented form, below the recording's folder; to be freed. Null after a line in `files` if
 * there is none. */
static char *instrument(struct substitutes *substitutes, const char *path)
{
    char reason[CACHE_REASON_SIZE] = "", *original = realpath(path, NULL);
    struct cached_file copy = {.file = -1};
    char *image = NULL;
    struct image_look look;
    int file = original ? regular_file_open(original) : -1;

    if (file >= 0)
        image_look_at(&look, file);
    if (file < 0)
        snprintf(reason, sizeof(reason), "%s", regular_file_error());
    else if (look.kind == IMAGE_KIND_FOREIGN)
        snprintf(reason, sizeof(reason), "%s", look.why);
    else if (look.kind == IMAGE_KIND_ELF && leave_matches(substitutes->leave, original))
        snprintf(reason, sizeof(reason), LEAVE_REASON);
    else if (look.kind == IMAGE_KIND_ELF && !image_is_never_instrumented(original) &&
             !image_has_rights(file) &&
             cache_get(&substitutes->cache, file, original, &copy, reason) == CACHED)
        image = recorded_image_keep(substitutes->recording, original, copy.file);
    if (image)
        recorded_image_note(substitutes->recording, "instrumented", original, image);
    else if (*reason)
        recorded_image_note(substitutes->recording, "left", original ? original : path, reason);
    if (copy.file >= 0)
        close(copy.file);
    if (file >= 0)
        close(file);
    free(original);
    cache_trim(&substitutes->cache);
    return image;
}

/* "	libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f…)" */
static void add_library(struct substitutes *substitutes, char *line)
{
    char *arrow = strstr(line, " => /"), *name = line + strspn(line, "\t "), *path, *image;
    char *target;

    if (!arrow)
        return;
    *arrow = 0;
    path = arrow + 4;
    path[strcspn(path, " ")] = 0;
    image = strchr(name, '/') ? NULL : instrument(substitutes, path);
    if (!image)
        return;
    target = memory_print("../%s", image);
    if (symlinkat(target, substitutes->libraries, name) < 0 && errno != EEXIST)
        say("%s/%s: cannot be made: %s", substitutes->folder, name, strerror(errno));
    free(target);
    free(image);
}

static enum processor processor_of(const char *program)
{
    struct image_look look = {.kind = IMAGE_KIND_OTHER};
    int file = regular_file_open(program);

    if (file >= 0) {
        image_look_at(&look, file);
        close(file);
    }
    return look.processor;
}

static void add_libraries(struct substitutes *substitutes, const char *program)
{
    char *const command[] = {(char *)linkers[processor_of(program)], "--list", (char *)program,
                             NULL};
    char *text = memory_zeroed(1, LIST_SIZE), *rest = text, *line;

    if (tool_run_silently(command, text, LIST_SIZE) == 0)
        while ((line = strsep(&rest, "\n")))
            add_library(substitutes, line);
    free(text);
}

static void set_library_path(const struct substitutes *substitutes)
{
    const char *before = getenv("LD_LIBRARY_PATH");
    char *path = before && *before ? memory_print("%s:%s", substitutes->folder, before)
                                   : memory_copy_string(substitutes->folder);

    setenv("LD_LIBRARY_PATH", path, 1);
    free(path);
}

/* The interpreter of a script is executed, as the kernel does it. */
static char *find_interpreter(const char *path, struct image_look *look)
{
    int file = regular_file_open(path);

    *look = (struct image_look){.kind = IMAGE_KIND_OTHER};
    if (file < 0)
        return NULL;
    image_look_at(look, file);
    close(file);
    return look->kind == IMAGE_KIND_SCRIPT ? look->interpreter : NULL;
}

static void execute_script(const char *image, const char *path, struct image_look *look,
                           char **arguments)
{
    struct words words = {0};

    words_add(&words, look->interpreter);
    if (*look->argument)
        words_add(&words, look->argument);
    words_add(&words, path);
    words_add_all(&words, arguments + 1);
    execv(image, words.list);
    words_free(&words);
}

/* The path of what is open, to be freed. */
static char *path_of(int directory)
{
    char link[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
    return realpath(link, NULL);
}

/* Null, or why the dynamic linker must not look there. */
static const char *why_not_searched(const struct substitutes *substitutes)
{
    if (substitutes->libraries < 0 || !substitutes->folder)
        return strerror(errno);
    if (strpbrk(substitutes->folder, ":;$"))
        return "its path has a character of :;$, at which LD_LIBRARY_PATH is split or expanded";
    if (!trusted_folder_is_kept(substitutes->libraries))
        return "another user or group can rename things in its path";
    return NULL;
}

static void make_folder(struct substitutes *substitutes)
{
    int directory = substitutes->recording->directory;
    const char *why;

    mkdirat(directory, "shadow", 0700);
    substitutes->libraries = below_open(directory, "shadow", O_PATH | O_DIRECTORY, 0);
    substitutes->folder = substitutes->libraries < 0 ? NULL : path_of(substitutes->libraries);
    why = why_not_searched(substitutes);
    if (!why)
        return;
    say("%s: %s: so the program's libraries are not recorded; name another place with -o",
        substitutes->recording->name, why);
    free(substitutes->folder);
    substitutes->folder = NULL;
}

void without_mounts_execute(const struct recording *recording, const struct words *options,
                            const struct words *leave, const char *path, const char *why,
                            char **arguments, mode_t mask)
{
    struct substitutes substitutes = {.recording = recording, .leave = leave};
    char *apart = recording_own_path(recording, "cache"), *image;
    const char *interpreter, *program;
    struct image_look look;

    if (why)
        say("%s: so instrumented files are beside their originals, not in their place; children "
            "are recorded only where they load the same libraries",
            why);
    cache_open(&substitutes.cache, options, apart);
    free(apart);
    make_folder(&substitutes);
    interpreter = find_interpreter(path, &look);
    program = interpreter ? interpreter : path;
    if (substitutes.folder)
        add_libraries(&substitutes, program);
    image = instrument(&substitutes, program);
    if (substitutes.folder)
        set_library_path(&substitutes);
    if (substitutes.libraries >= 0)
        close(substitutes.libraries);
    if (!image)
        return;
    fcntl(recording->directory, F_SETFD, FD_CLOEXEC);
    umask(mask);
    image = recording_own_path(recording, image);
    if (interpreter)
        execute_script(image, path, &look, arguments);
    else
        execv(image, arguments);
}
