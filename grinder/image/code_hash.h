/*
 * What the code of a function is, wherever it lies: two builds of a program share the hashes of functions that
 * did not change, though all code has moved. Hashed are the bytes of its instructions, but
 *
 *      nop                       nothing
 *      jne  in the function      the mnemonic, and which of the function's instructions it leads to
 *      call, jmp out of it       the mnemonic
 *      mov  rax, [rip + 0x2ee9]  without the displacement
 *      mov  edi, 0x404010        without the 32 or 64 bits, if they are an address in an image that is loaded
 *                                where it was linked
 *
 * So functions that differ only in what they call or read have one hash.
 */
#ifndef UMBRA_GRINDER_CODE_HASH_H
#define UMBRA_GRINDER_CODE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "image/loaded_ranges.h"
#include "image/manifest.h"

/* Of size bytes at rva in an image that is loaded so; XXH3 64, never 0. */
uint64_t code_hash(const uint8_t *bytes, uint32_t size, uint32_t rva,
                   const struct loaded_ranges *ranges);

/* Those of all functions of the instrumented file at path, which has that manifest, by their places in it; 0 where
   the size is not known. To be freed; null if the original cannot be had. */
uint64_t *code_hashes_read(const char *path, const struct manifest *manifest);

#endif
