/* Offsets in struct image_header and in a stub, for assembly; image_manifest.h asserts the former.
 */
#ifndef UMBRA_IMAGE_OFFSETS_H
#define UMBRA_IMAGE_OFFSETS_H

#define IMAGE_ENTRY_HOOK     8
#define IMAGE_FIRST_FUNCTION 16
#define IMAGE_HEADER_RVA     24
#define IMAGE_HOOK_RVA       44

/* From a stub's body. */
#define STUB_HEADER_DISTANCE (-13) /* int32 */
#define STUB_INDEX           (-9)  /* uint32: place in the manifest */

/* From a copied function's first instruction (docs/copies.md). */
#define COPY_HEADER (-12) /* int32: distance to the image header */
#define COPY_INDEX  (-8)  /* uint32: as STUB_INDEX */
#define COPY_BODY   (-4)  /* int32: distance to the stub's body */

#endif
