/*
 * A file is about to be changed, removed or replaced. If a copy is bound over it, that is taken
 * away: the original is there for it. But a program that runs is not written to, as ever (ETXTBSY).
 */
#ifndef UMBRA_FRONT_ON_CHANGE_H
#define UMBRA_FRONT_ON_CHANGE_H

#include "front/supervisor/waiting_call.h"

/* By rename, unlink, chmod and others. Returns whether the call has been answered. */
bool on_change(const struct waiting_call *call);

/* By opening or truncating it: what name, opened with O_PATH, stands for is a copy, with that
   status. flags may be O_NOFOLLOW. Returns whether the call has been answered. */
bool on_write(const struct waiting_call *call, int name, int flags, const struct known_file *copy,
              const struct stat *status);

/* By opening or truncating the original that lies below a copy, which a descriptor leads to that was opened before the
   copy was bound: what is executed by its name afterwards is the original, too. Returns whether the call has been
   answered. */
bool on_write_below(const struct waiting_call *call, int flags, const struct stat *original);

#endif
