/*
 * Where no mounts can be made: instrumented files beside their originals, not in their place.
 *
 *      umbra.data/images/usr/bin/perl          executed, with the program's own argv[0]
 *      umbra.data/shadow/libm.so.6 -> …        LD_LIBRARY_PATH
 *
 * The program's libraries are those that the dynamic linker lists; it maps them and runs none of
 * their code. What is loaded by a path later, and what children execute, is as ever, but for
 * libraries that have the name of one of these. /proc/self/exe and $ORIGIN are those of the shadow.
 */
#ifndef UMBRA_FRONT_SHADOW_H
#define UMBRA_FRONT_SHADOW_H

#include "front/recording.h"
#include "front/words.h"

/* Becomes the program at that path. why: what a line then says; null for none. Returns with errno
   if the program cannot be executed. */
void shadow_execute(const struct recording *recording, const struct words *options,
                    const char *path, const char *why, char **arguments);

#endif
