/*
 * Whom the supervisor may serve, and with which rights.
 *
 * The supervisor opens originals for who reads a file that was bound over. It must not open what
 * the kernel would refuse:
 *
 *      who                                             gets
 *      has the rights of the supervisor                what the supervisor opens
 *      has another user, or fewer rights               what the supervisor opens with these rights,
 *                                                      taken by one thread for as long as it opens
 *      is in another user or mount namespace, has      nothing: nobody can take on what he has
 *      another root, more seccomp filters than the     given up
 *      program began with, a label of SELinux,
 *      AppArmor or Smack that the supervisor has not,
 *      or a Landlock domain
 *
 * The kernel says all of this but the last. So landlock_restrict_self is watched. It demands
 * no_new_privs, which goes with the domain to all children, or CAP_SYS_ADMIN: after the first such
 * call nobody with no_new_privs is served, and after one without it nobody at all.
 */
#ifndef UMBRA_FRONT_RIGHTS_H
#define UMBRA_FRONT_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "front/calls/tracee.h"

/* Notes what this process has, and the program, whose filter is installed: what it has by now it
   has not given up by itself. Returns false if the kernel does not say. */
bool rights_begin(pid_t program);

/* A process is about to call landlock_restrict_self. */
void rights_see_landlock(pid_t pid);

/* Whether a process has given nothing up but its user and capabilities. */
bool rights_are_free(pid_t pid, const struct tracee_look *look);

/* From here on the kernel judges what this thread opens by the rights of that process. Returns
   false if it cannot have them; then nothing has changed. */
bool rights_take(const struct tracee_look *look);
/* Back to its own; ends this process if that fails. */
void rights_give_back(void);

/* Whether this thread may access what name, opened with O_PATH, stands for, by the rights that it
   has at the moment; else errno. */
bool rights_allow(int name, int access);

/* What that process would come to by the path, with its rights: a descriptor opened with O_PATH, or
   -1. flags may be O_NOFOLLOW. It must have `access` to it: F_OK asks for none. */
int rights_open_path(const struct tracee_look *look, const struct tracee_path *path, int flags,
                     int access);

#endif
