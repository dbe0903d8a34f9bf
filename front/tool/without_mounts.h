/*
 * Where no mounts can be made: instrumented files beside their originals, not in their place.
 *
 *      umbra.data/images/usr/bin/perl          executed, with the program's own argv[0]
 *      umbra.data/shadow/libm.so.6 -> …        LD_LIBRARY_PATH
 *
 * The program's libraries are those that the dynamic linker lists; it maps them and runs none of
 * their code. What is loaded by a path later, and what children execute, is as ever, but for
 * libraries that have the name of one of these. /proc/self/exe and $ORIGIN are those of the
 * instrumented files.
 *
 * The dynamic linker finds libraries by their path, also those of children. Where another user can
 * put something else there, or the path has one of ":;$", which LD_LIBRARY_PATH cannot say, the
 * libraries are left as they are, and a line says so.
 */
#ifndef UMBRA_FRONT_WITHOUT_MOUNTS_H
#define UMBRA_FRONT_WITHOUT_MOUNTS_H

#include <sys/types.h>

#include "front/base/words.h"
#include "front/recording/recording.h"

/* Becomes the program at that path, with that umask. leave: patterns (front/files/leave.h). why:
   what a line then says; null for none. Returns if there is no instrumented program. */
void without_mounts_execute(const struct recording *recording, const struct words *options,
                    const struct words *leave, const char *path, const char *why, char **arguments,
                    mode_t mask);

#endif
