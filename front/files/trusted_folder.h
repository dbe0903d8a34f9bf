/*
 * A folder whose files this user may execute: nobody else can change what is in it, nor put another
 * in its place.
 *
 *      /home/ann/.cache/umbra/images
 *      |    |   |      |     |
 *      +----+---+------+     |      may anybody else rename things in it? Asked before the next
 * name |      is looked up, or made
 *                            +----  may anybody else write there?
 *
 * Each name is looked up in the folder that is open, and what it leads to is judged by its
 * descriptor. A link is followed here and not by the kernel, if it is root's or this user's.
 */
#ifndef UMBRA_FRONT_TRUSTED_FOLDER_H
#define UMBRA_FRONT_TRUSTED_FOLDER_H

#include <stdbool.h>
#include <sys/stat.h>

struct trusted_folder {
    int folder;  /* opened with O_PATH; -1 if there is none */
    char *path;  /* the way to it, without links; owned */
    char *found; /* why there is none, or null; owned */
};

/*
 * Opens the folder at that absolute path, and makes what is missing, 0700. Where it is refused,
 * nothing was made below what was refused. `found` then says why.
 */
bool trusted_folder_open(struct trusted_folder *folder, const char *path);

/* Opens a folder in one of the caller's, which may lie where others can rename: it is judged, and
   not the way to it. */
bool trusted_folder_open_apart(struct trusted_folder *folder, const char *path);

/* Opens name in it, and makes it if it is missing; in has a folder. */
bool trusted_folder_open_in(struct trusted_folder *folder, const struct trusted_folder *in,
                            const char *name);

/*
 * The folder in the mount namespace that this process is in by now: descriptors of another
 * namespace can be neither bound nor linked from. To be closed; -1 with errno, ESTALE if another
 * folder is there.
 */
int trusted_folder_reach(const struct trusted_folder *folder);

/* Whether that absolute path leads to a folder, and by its whole way, links included, to that one
   whatever others do: each folder is judged, and that one too. Nothing is made. */
bool trusted_folder_is_way(const char *path);

/* Whether nobody else can put another directory in this one's place, nor write there: all that is
   above by now is judged as on the way to a trusted folder. */
bool trusted_folder_is_kept(int directory);

void trusted_folder_close(struct trusted_folder *folder);

#endif
