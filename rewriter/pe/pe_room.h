/*
 * Room for the new sections' headers. They go behind the others, where linkers leave a few hundred
 * bytes; where there is less, the headers grow, and all raw data moves:
 *
 *      headers, sections' headers             headers, sections' headers, 3 more
 *      raw data                        ->     (up to a multiple of the file alignment)
 *      symbols, overlay                       raw data
 *                                             symbols, overlay
 *
 * RVAs stay, so there must be room below the first section's. The changes list the headers' bytes,
 * from which those who undo it see by how much they grew.
 */
#ifndef UMBRA_REWRITER_PE_ROOM_H
#define UMBRA_REWRITER_PE_ROOM_H

#include "rewriter/patch/change_list.h"
#include "rewriter/pe/pe_image.h"

#define PE_NEW_SECTIONS 3

struct pe_room {
    uint8_t *bytes; /* the file with its larger headers; null if the image is as it was */
};

/*
 * Notes what of the headers will change. If these must grow, the image is read anew from a copy of
 * its file; pe_room_free frees that, after the image.
 */
bool pe_room_make(struct pe_room *room, struct pe_image *image, struct change_list *changes,
                  struct failure *failure);
void pe_room_free(struct pe_room *room);

#endif
