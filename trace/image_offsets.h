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

#endif
