/*
 * Headers of a PE32 file, of programs of 32 bits, as those of PE32+ have them. A PE32 file is widened here, and
 * nowhere else do readers of headers see that it was one:
 *
 *      optional header      96 bytes -> 112     base_of_data, which PE32+ has not, stays in the file
 *      TLS directory        24       -> 40
 *      load configuration   0xac     -> 0x118   the table of handlers is PE32's alone
 */
#ifndef UMBRA_IMAGE_PE_WIDE_H
#define UMBRA_IMAGE_PE_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/pe_format.h"

/* Bytes of an optional header without its directories; 0 if the magic is neither's. */
size_t pe_optional_size(uint16_t magic);

/* Whether a machine's programs are instrumented: x86-64's in PE32+, i386's in PE32. */
bool pe_machine_is_known(uint16_t machine);
uint16_t pe_magic_of(uint16_t machine);

/* pe_optional_size bytes; the magic stays that of the file. */
void pe_optional_read(struct pe_optional_header *header, const uint8_t *bytes);
/* Into a header of the same magic. */
void pe_optional_write(uint8_t *bytes, const struct pe_optional_header *header);

struct pe_tls pe_tls_widen(const struct pe_tls_32 *tls);
struct pe_load_config pe_load_config_widen(const struct pe_load_config_32 *config);

#endif
