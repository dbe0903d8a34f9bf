#include "grinder/profile/traces.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "support/memory.h"

struct list {
    char **traces; /* ends with null */
    size_t count, room;
};

static void append(struct list *list, const char *path)
{
    list->traces = memory_grow(list->traces, list->count + 1, &list->room, sizeof(*list->traces));
    list->traces[list->count++] = memory_copy_string(path);
    list->traces[list->count] = NULL;
}

/* The folder's name may hold what glob takes for a pattern. */
static char *pattern_of(const char *folder)
{
    char *pattern = memory_zeroed(strlen(folder) * 2 + sizeof("/*.bin"), 1), *end = pattern;

    for (; *folder; folder++) {
        if (strchr("*?[\\", *folder))
            *end++ = '\\';
        *end++ = *folder;
    }
    strcpy(end, "/*.bin");
    return pattern;
}

/* What `umbra record` makes has them a folder below. */
static void refuse_folder(const char *folder)
{
    char *below = memory_print("%s/traces", folder);

    if (access(below, F_OK) == 0)
        message("%s: expected a trace file or a folder with traces, found no .bin in it; they are "
                "in %s, and umbra report %s shows them",
                folder, below, folder);
    else
        message("%s: expected a trace file or a folder with traces, found no .bin in it", folder);
    free(below);
}

static int append_folder(struct list *list, const char *folder)
{
    char *pattern = pattern_of(folder);
    glob_t found;
    int result = glob(pattern, 0, NULL, &found);

    if (result != 0)
        refuse_folder(folder);
    for (size_t i = 0; result == 0 && i < found.gl_pathc; i++)
        append(list, found.gl_pathv[i]);
    globfree(&found);
    free(pattern);
    return result ? -1 : 0;
}

char **traces_of(const char *const *paths, int *result)
{
    struct list list = {.traces = memory_zeroed(1, sizeof(char *)), .room = 1};
    struct stat status;

    for (; *paths; paths++) {
        if (stat(*paths, &status) < 0 || !S_ISDIR(status.st_mode))
            append(&list, *paths);
        else if (append_folder(&list, *paths) < 0)
            *result = -1;
    }
    return list.traces;
}

void traces_free(char **traces)
{
    for (size_t i = 0; traces[i]; i++)
        free(traces[i]);
    free(traces);
}

char *trace_beside(const char *trace, const char *suffix)
{
    size_t length = strlen(trace), size = length + strlen(suffix) + 1;
    char *path = memory_zeroed(size, 1);

    if (length >= 4 && !strcmp(trace + length - 4, ".bin"))
        length -= 4;
    snprintf(path, size, "%.*s%s", (int)length, trace, suffix);
    return path;
}

size_t traces_count(char *const *traces)
{
    size_t count = 0;

    while (traces[count])
        count++;
    return count;
}
