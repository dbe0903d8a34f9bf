/*
 * A file is about to be opened.
 *
 *      by the dynamic linker           it is instrumented first
 *      to read it, by anybody else     the original is handed over, if a copy is bound over it
 *      to write to it                  on_change.h
 */
#ifndef UMBRA_FRONT_ON_OPEN_H
#define UMBRA_FRONT_ON_OPEN_H

#include "front/supervisor/waiting_call.h"

/* Returns whether the call has been answered. */
bool on_open(const struct waiting_call *call);

#endif
