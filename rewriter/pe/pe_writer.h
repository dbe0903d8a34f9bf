/*
 * Putting an instrumented PE image together. The original's bytes stay where they are in the file
 * (but see pe_room.h); behind them come three sections, at the end of the file and of the address
 * space alike, and a copy of the overlay:
 *
 *      original       patched prologues; headers; what the change list notes
 *      .umbrax        stubs
 *      .umbrar        import directory, .pdata with the stubs' entries, manifest
 *      .umbraw        image_header, whose entry_hook the loader binds
 *      overlay        again: programs look for it at the end of the file, or behind the last
 *                     section, or where it always was
 *
 * Functions keep their addresses, so exports, base relocations, resources, TLS, the tables of
 * control-flow guard and those of delay imports hold as they are; what is added is independent of
 * where it is loaded and needs no relocations. Bound imports are dropped, for the loader binds
 * anew; a signature is dropped, as it is not true any more; and the image does not claim any longer
 * to be made for shadow stacks.
 */
#ifndef UMBRA_REWRITER_PE_WRITER_H
#define UMBRA_REWRITER_PE_WRITER_H

#include "rewriter/base/output_file.h"
#include "rewriter/patch/change_list.h"
#include "rewriter/patch/patch_plan.h"
#include "rewriter/pe/pe_code.h"

struct pe_writer_source {
    struct pe_image *image; /* with room for headers; its bytes are patched */
    struct pe_code *pe;     /* planned */
    const struct patch_plan *plan;
    struct change_list *changes; /* what of the headers will change; more is added */
    const char *original_path;   /* absolute */
    const char *agent;           /* as the import directory is to name it */
    uint64_t original_size, original_hash;
};

bool pe_write(const struct pe_writer_source *source, struct output_file *output,
              struct failure *failure);

#endif
