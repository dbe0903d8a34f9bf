/*
 * Dynamic symbols of copied bodies, so that dladdr and backtrace_symbols name what was exported, in
 * its copy, too. Whoever looks a function up by its name must go on finding the original.
 *
 *      .dynsym     | undefined | hashed | hook symbol | copies |
 *      .gnu.hash   chains:     | a b|c d e|     x          x   x|     |: an end
 *
 * dladdr walks the chains of .gnu.hash, and looks at nothing but addresses (glibc, dl-addr.c; musl
 * counts symbols by the last chain). So the last chain goes on behind its end. A look-up that gets
 * there compares hashes first: each new one is its name's with all bits changed, so that none is
 * ever found. Next to DT_HASH alone the symbols are in no chain; dladdr goes through all of them.
 */
#ifndef UMBRA_REWRITER_ELF_COPY_EXPORTS_H
#define UMBRA_REWRITER_ELF_COPY_EXPORTS_H

#include "rewriter/copy/copy_plan.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/elf/image/elf_image.h"

/* Dynamic symbols that there will be again. */
struct elf_exports {
    const struct elf_image *image;
    struct elf_export {
        uint32_t symbol, function; /* index; place in the function list */
    } * items;                     /* owned */
    size_t count;
};

/* Finds them; none, if .gnu.hash is not as linkers write it. free(items) ends it. */
void elf_exports_find(struct elf_exports *exports, const struct elf_image *image,
                      const struct function_list *functions, const struct copy_plan *copies);

/* What stands for export number i, whose copy is in a section of that index. */
Elf64_Sym elf_export_symbol(const struct elf_exports *exports, size_t i,
                            const struct copy_set *copies, size_t section);

/* Where .gnu.hash is, with its chains; size 0 if there are no exports, or it is not needed. */
struct elf_span elf_exports_hash(const struct elf_exports *exports);

/* Lets the last chain go on: `table` is the grown .gnu.hash of that size, with room for one more
   word than there are exports, the hook symbol's. */
void elf_exports_chain(const struct elf_exports *exports, uint8_t *table, uint64_t size,
                       const char *hook);

#endif
