/*
 * Room for tables to grow where they are. The dynamic tables and the program headers each get a few
 * entries more, and copying all of a large one for that would cost far more than the new code.
 * So what lies right behind a table moves to the new segment instead, if that is smaller, and if it
 * works at any address:
 *
 *      ELF header
 *      program headers   +3 entries  ->  .interp, notes, .gnu.hash
 *      .dynsym           +1          ->  .gnu.version               (as lld orders them)
 *      .dynstr           +2 strings  ->  .gnu.version, .gnu.hash    (GNU ld, gold)
 *      .rela.dyn         +1          ->  .rela.plt
 *
 * .gnu.version grows too, and always moves. Only sections tell what lies there: without them, or
 * with anything else in the way, the table itself is copied. Dynamic linkers find all of these
 * through the dynamic section or the program headers: .rela.dyn and .rela.plt are two ranges, in
 * any order, to glibc (elf/dynamic-link.h) and musl (do_relocs) alike. So are .rel.dyn and .rel.plt.
 */
#ifndef UMBRA_REWRITER_ELF_ROOM_H
#define UMBRA_REWRITER_ELF_ROOM_H

#include "rewriter/elf/image/elf_image.h"

#define ELF_ROOM_MOVES 16

/* Addresses `size` from `from` on, whose bytes go to `to`, which is congruent modulo 64. */
struct elf_move {
    uint64_t from, size;
    uint64_t to;
};

struct elf_moves {
    struct elf_move items[ELF_ROOM_MOVES];
    size_t count;
};

struct elf_room {
    bool has_headers, has_symbols, has_strings, has_relocations; /* where they are */
    struct elf_moves moves;                                      /* to where is not known */
};

/* Bytes to be added; 0 for what need not grow. */
struct elf_room_need {
    size_t headers, symbols, strings, relocations;
};

/* Decides what stays and what moves; all as it was where there is nothing to gain. */
void elf_room_plan(struct elf_room *room, const struct elf_image *image,
                   const struct elf_room_need *need);

/* Where what was at an address is now: the same address unless it was moved. */
uint64_t elf_moved(const struct elf_moves *moves, uint64_t address);

#endif
