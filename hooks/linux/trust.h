/*
 * Whom the agent lets into its host. A process that can write to the trace controls the host: the
 * trace holds the word that stubs jump through. So the agent trusts those whom the kernel would let
 * debug the host anyway, ptrace(2):
 *
 *      root    always
 *      user    the effective one, if real, effective and saved id are the same, the process is
 *              dumpable and holds no capabilities
 *      none    in a host that has more rights than whoever executed it (AT_SECURE: set-uid,
 *              set-gid, file capabilities); its environment is not to be trusted either
 */
#ifndef UMBRA_HOOKS_LINUX_TRUST_H
#define UMBRA_HOOKS_LINUX_TRUST_H

#include <stdbool.h>
#include <stdint.h>

/* Is AT_SECURE 0 in this auxiliary vector (pairs of type and value, up to AT_NULL)? */
bool trust_vector(const uintptr_t *vector);

/* Is AT_SECURE 0 in this process's vector, by /proc? False also where that cannot be read: there is
   no /proc, or the process is not dumpable. */
bool trust_start(void);

/* Is the directory that this path's file is in a trusted user's, mode 0700 and no symbolic link? */
bool trust_folder_of(const char *path);

/* Did a trusted user call listen on the other end of this local socket? */
bool trust_peer(long socket);

/* Is the open file a regular file, or memory, of a trusted user? */
bool trust_file(long file);

#endif
