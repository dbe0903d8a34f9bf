/*
 * A program in a box, as containers are: boxed proc|none rw|ro FOLDER PROGRAM ARGUMENT…
 *
 * Executes it with the folder as its root, which nothing leads out of; with its own /proc there or
 * none, and read-only or not. To be run in a mount namespace of its own (unshare).
 */
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static void require(int is_done, const char *what)
{
    if (is_done)
        return;
    perror(what);
    _exit(77);
}

int main(int argc, char **argv)
{
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;

    require(argc > 4, "boxed");
    require(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "make mounts private");
    require(mount(argv[3], argv[3], NULL, MS_BIND | MS_REC, NULL) == 0, "bind");
    require(chdir(argv[3]) == 0, "chdir");
    if (!strcmp(argv[1], "proc"))
        require(mount("proc", "proc", "proc", 0, NULL) == 0, "mount /proc");
    if (!strcmp(argv[2], "ro"))
        require(mount(NULL, ".", NULL, flags, NULL) == 0, "mount read-only");
    require(syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 &&
                chdir("/") == 0,
            "pivot_root");
    execv(argv[4], argv + 4);
    require(0, argv[4]);
}
