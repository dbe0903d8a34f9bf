/*
 * Calls in copies by pointers (rewriter/copy/frame_pointers.h), where the target is new to the site, or it is its
 * turn: which targets have a place at the site, which are in the thread's table, and which are calls out.
 */
#ifndef UMBRA_HOOKS_POINTER_CALLS_H
#define UMBRA_HOOKS_POINTER_CALLS_H

#include "hooks/site_call.h"

/* Counts the call, or leaves a note of it. Returns where to go on. */
struct destination pointer_call(struct site_call *call, struct trace_links *from);

#endif
