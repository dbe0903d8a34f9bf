/* Which basic blocks of an image run: its bytes for that, in the trace (trace_format.h, cover). */
#ifndef UMBRA_HOOKS_COVER_H
#define UMBRA_HOOKS_COVER_H

#include <stdbool.h>

#include "trace/image_manifest.h"

/*
 * An image is registered, under the guard: blocks of the trace come to lie over its own pages, with
 * what has run so far. Where there is no room in the trace, or none for a mapping, a page stays the
 * image's own, and what is set there is lost.
 *
 * A child made by fork goes on in its parent's trace, until its first hook is called: what runs in it
 * has run. So these pages are the only ones of a trace that a child has, which may become another
 * user: they are the last of the trace, since whoever has pages of a file may map those behind them.
 */
void cover_bind(const struct image_header *image);

/* Once, before the first thread begins. */
void cover_prepare(void);

/* Under the guard: the calling thread counts blocks in a lane of its own from now on, if images have some. More
   threads than there are lanes share them. True: lane_end_watch is to be called now, without the guard. */
bool cover_take_lane(void);

/* An image's word is bound, and its calls are not recorded: makes it a hook by which threads take lanes, and
   returns that; null if it has no lanes. */
void *cover_watch(const struct image_header *image);

/* In a fork's child, under the guard, which has a session of its own: the pages are its trace's. */
void cover_begin_in_child(void);

#endif
