/* Which basic blocks of an image run: its bytes for that, in the trace (trace_format.h, cover). */
#ifndef UMBRA_HOOKS_COVER_H
#define UMBRA_HOOKS_COVER_H

#include "trace/image_manifest.h"

/*
 * An image is registered, under the guard: blocks of the trace come to lie over its own pages, with
 * what has run so far. Where there is no room in the trace, or none for a mapping, a page stays the
 * image's own, and what is set there is lost.
 *
 * A child made by fork goes on in its parent's trace: what runs in it has run.
 */
void cover_bind(const struct image_header *image);

#endif
