#include "service/server/linux/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "trace/protocol.h"

/* A socket of another type is refused by a listener (EPROTOTYPE), which does not notice. */
bool leftovers_is_deserted(const char *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int probe = -1;
    bool is_deserted;

    if (strlen(socket_path) < sizeof(address.sun_path))
        probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return false;
    strcpy(address.sun_path, socket_path);
    is_deserted =
        connect(probe, (struct sockaddr *)&address, sizeof(address)) < 0 && errno == ECONNREFUSED;
    close(probe);
    return is_deserted;
}

/* The name of the instance, if the file's ends so. */
static bool take_instance(const char *file, const char *suffix, char instance[PROTOCOL_PATH_SIZE])
{
    size_t length = strlen(file), end = strlen(suffix);

    if (length <= end || length - end >= PROTOCOL_PATH_SIZE || strcmp(file + length - end, suffix))
        return false;
    memcpy(instance, file, length - end);
    instance[length - end] = 0;
    return true;
}

/* A lock that was free, now held; -1: it is not ours to remove. */
static int take_free_lock(int folder, const char *name)
{
    int lock = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat ours, current;

    if (lock < 0)
        return -1;
    if (fstat(lock, &ours) == 0 && S_ISREG(ours.st_mode) && ours.st_uid == geteuid() &&
        flock(lock, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &current, AT_SYMLINK_NOFOLLOW) == 0 &&
        ours.st_ino == current.st_ino && ours.st_dev == current.st_dev)
        return lock;
    close(lock);
    return -1;
}

static void remove_socket(int folder, const char *path, const char *instance, const char *suffix)
{
    char whole[PROTOCOL_PATH_SIZE], name[PROTOCOL_PATH_SIZE + 16];
    int length = snprintf(whole, sizeof(whole), "%s/%s%s", path, instance, suffix);

    snprintf(name, sizeof(name), "%s%s", instance, suffix);
    if (length > 0 && (size_t)length < sizeof(whole) && leftovers_is_deserted(whole))
        unlinkat(folder, name, 0);
}

/* The lock goes last: it is held until then, so no service of that instance begins. */
static void remove_instance(int folder, const char *path, const char *lock_name,
                            const char *instance)
{
    char rendezvous[PROTOCOL_PATH_SIZE + 16];
    int lock = take_free_lock(folder, lock_name);

    if (lock < 0)
        return;
    remove_socket(folder, path, instance, ".socket");
    snprintf(rendezvous, sizeof(rendezvous), "%s.rendezvous", instance);
    unlinkat(folder, rendezvous, 0);
    unlinkat(folder, lock_name, 0);
    close(lock);
}

void leftovers_sweep(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    char instance[PROTOCOL_PATH_SIZE];

    while (entries && (entry = readdir(entries))) {
        if (take_instance(entry->d_name, ".lock", instance))
            remove_instance(dirfd(entries), folder, entry->d_name, instance);
        else if (take_instance(entry->d_name, ".keeper", instance))
            remove_socket(dirfd(entries), folder, instance, ".keeper");
    }
    if (entries)
        closedir(entries);
}
