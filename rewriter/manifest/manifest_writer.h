/* Writing the manifest that trace/image_manifest.h draws; image/manifest.h reads it. */
#ifndef UMBRA_REWRITER_MANIFEST_WRITER_H
#define UMBRA_REWRITER_MANIFEST_WRITER_H

#include "rewriter/code/code.h"
#include "rewriter/copy/copy_set.h"
#include "rewriter/patch/change_list.h"
#include "trace/image_manifest.h"

struct manifest_source {
    const struct code *code;
    const struct function_list *functions;
    const struct change_list *changes;
    const struct copy_set *copies; /* null: none */
    const char *original_path; /* absolute */
    const char *agent_path;
    uint64_t original_size, original_hash;
    uint64_t base;  /* preferred */
    uint64_t stubs; /* address of the stub segment */
    const uint8_t *build_id;
    size_t build_id_size;
};

/* Bytes of the manifest; depends on all but addresses, of stubs and of copies. */
size_t manifest_size(const struct manifest_source *source);
/* Fills in that many zeroed bytes. */
void manifest_write(const struct manifest_source *source, uint8_t *bytes);

#endif
