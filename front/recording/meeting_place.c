#include "front/recording/meeting_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/files/trusted_folder.h"
#include "support/memory.h"
#include "trace/protocol.h"

#define VARIABLE   "UMBRA_RUNTIME_DIR"
#define NOTE       "meeting"
#define PATH_WORDS "/umbra/.socket"

/* The folder that may be missing, as a service looks at it (service/server/linux/endpoint.c). */
static bool is_usable(const char *folder, const char *parent)
{
    struct stat stat;

    if (lstat(folder, &stat) == 0)
        return S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() && !(stat.st_mode & 077);
    return errno == ENOENT && access(parent, W_OK | X_OK) == 0;
}

static bool usual_place_serves(void)
{
    const char *own = getenv(VARIABLE);
    const char *runtime = own && *own ? own : getenv("XDG_RUNTIME_DIR");
    const char *parent = runtime && *runtime ? runtime : "/tmp";
    char *folder = runtime && *runtime ? memory_print("%s/umbra", runtime)
                                       : memory_print("/tmp/umbra-%u", (unsigned)geteuid());
    bool serves = trusted_folder_is_way(parent) && is_usable(folder, parent);

    free(folder);
    return serves;
}

/* In the recording, or where its path is too long for a socket's, in a folder in /tmp. To be freed;
   null: there is none. */
static char *own_place(const struct recording *recording, const char *instance)
{
    char *place = memory_copy_string(recording->folder);

    if (strlen(place) + strlen(PATH_WORDS) + strlen(instance) < PROTOCOL_PATH_SIZE)
        return place;
    free(place);
    place = memory_copy_string("/tmp/umbra-XXXXXX");
    if (mkdtemp(place))
        return place;
    free(place);
    return NULL;
}

void meeting_place_choose(const struct recording *recording, const char *instance)
{
    char *place = usual_place_serves() ? NULL : own_place(recording, instance);

    if (!place)
        return;
    recording_note(recording, NOTE, place);
    setenv(VARIABLE, place, 1);
    free(place);
}

void meeting_place_leave(const struct recording *recording)
{
    char *place = recording_value(recording, NOTE);
    bool is_within = place && !strcmp(place, recording->folder);
    char *folder = place ? memory_print("%s/umbra", place) : NULL;

    if (is_within)
        unlinkat(recording->directory, "umbra", AT_REMOVEDIR);
    else if (folder && rmdir(folder) == 0)
        rmdir(place);
    free(folder);
    free(place);
}

void meeting_place_find(const struct recording *recording)
{
    char *place = recording_value(recording, NOTE);

    if (place)
        setenv(VARIABLE, place, 1);
    free(place);
}
