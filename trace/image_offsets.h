/* Offsets in struct image_header, for assembly; image_manifest.h asserts them. */
#ifndef UMBRA_IMAGE_OFFSETS_H
#define UMBRA_IMAGE_OFFSETS_H

#define IMAGE_ENTRY_HOOK     8
#define IMAGE_FIRST_FUNCTION 16

#endif
