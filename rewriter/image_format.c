#include "rewriter/image_format.h"

#include "rewriter/elf/elf_kind.h"
#include "rewriter/elf/elf_rewrite.h"
#include "rewriter/elf/elf_verify.h"
#include "rewriter/pe/pe_image.h"
#include "rewriter/pe/pe_kind.h"
#include "rewriter/pe/pe_rewrite.h"
#include "rewriter/pe/pe_verify.h"

static const struct image_format elf = {
    .agent = &agent_elf,
    .kind = elf_kind,
    .check = elf_check,
    .embeds_agent = elf_embeds_agent,
    .rewrite = elf_rewrite,
    .list = elf_list,
    .verify = elf_verify,
    .undo = elf_undo,
};

static const struct image_format pe = {
    .agent = &agent_pe,
    .kind = pe_kind,
    .check = pe_check,
    .rewrite = pe_rewrite,
    .list = pe_list,
    .verify = pe_verify,
    .undo = pe_undo,
};

const struct image_format *image_format_of(const uint8_t *bytes, size_t size)
{
    return pe_is_pe(bytes, size) ? &pe : &elf;
}
