/*
 * Which files the user wants left as they are: patterns (fnmatch), in the order they were given.
 * The last one that matches decides; one that begins with '!' takes files back.
 *
 *      --leave='libfoo.so*'                    left are those of that name
 *      --leave='*' --leave='!/usr/bin/perl'    left are all but that one
 *
 * A pattern is compared with the path, without links, and with its last part; '*' also matches '/'.
 * A pattern that equals one of them matches, whatever special characters it has.
 */
#ifndef UMBRA_FRONT_LEAVE_H
#define UMBRA_FRONT_LEAVE_H

#include <stdbool.h>

#include "front/base/words.h"

#define LEAVE_REASON "--leave says so"

/* Whether the file of that absolute path is to be left. */
bool leave_matches(const struct words *patterns, const char *path);

#endif
