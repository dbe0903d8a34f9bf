/*
 * The files of a process, which may be others than ours by the same paths: it may be in another mount namespace, or
 * have another root (chroot). The kernel tells us of paths that begin at our root, or at that of the other namespace:
 *
 *      /proc/PID/root -> /srv/box              maps: /srv/box/usr/lib/libz.so.1
 *                        ^ in front of the process's own paths          ^ of these, what it calls it: /usr/lib/…
 *
 * We reach the file below /proc/PID/root; what the process has mapped and its root does not have, from our root if
 * the namespace is ours, else by /proc/PID/map_files, which is for root alone.
 */
#ifndef UMBRA_SERVICE_PROGRAM_FILES_H
#define UMBRA_SERVICE_PROGRAM_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "service/attach/linux/address_space.h"

struct program_files {
    pid_t pid;
    bool are_ours;         /* the process has our namespace and our root */
    bool is_our_namespace;
    char root[PATH_MAX]; /* what stands in front of its paths; "": nothing */
};

bool program_files_find(struct program_files *files, pid_t pid, struct failure *failure);

/* What the process calls a file that it has mapped; within its path. */
const char *program_files_name(const struct program_files *files, const char *path);

/* The path by which we can open the file of a range. False: there is none any more. */
bool program_files_reach(const struct program_files *files, const struct address_range *range, char path[PATH_MAX]);

#endif
