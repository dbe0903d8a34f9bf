#include "rewriter/elf/elf_image_format.h"

#include <stdlib.h>

#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/copies/elf_copy_source.h"
#include "rewriter/elf/image/elf_agent.h"
#include "rewriter/elf/image/elf_debug_names.h"
#include "rewriter/elf/image/elf_kind.h"
#include "rewriter/elf/write/elf_embedding.h"
#include "rewriter/elf/write/elf_new_segments.h"
#include "rewriter/elf/write/elf_redirect.h"
#include "rewriter/elf/write/elf_writer.h"
#include "support/memory.h"

/* What image->own is. */
struct elf {
    struct elf_image image;
    struct elf_code code;
    struct elf_debug_names debug_names;
};

static bool open_image(struct image *image, struct failure *failure)
{
    const struct input_file *input = image->input;
    struct elf *elf = memory_zeroed(1, sizeof(*elf));

    if (!elf_image_read(&elf->image, input->path, input->bytes, input->size, failure)) {
        free(elf);
        return false;
    }
    image->base = elf->image.base;
    image->end = elf->image.end;
    image->own = elf;
    return true;
}

static void close_image(struct image *image)
{
    struct elf *elf = image->own;

    elf_code_free(&elf->code);
    elf_debug_names_free(&elf->debug_names);
    elf_image_free(&elf->image);
    free(elf);
}

static bool require_fit(const struct image *image, struct failure *failure)
{
    const struct elf *elf = image->own;

    return elf_image_require_supported(&elf->image, failure);
}

/* The agent of i386 cannot be embedded, and code that the loader changes cannot be moved. */
static bool require_fit32(const struct image *image, struct failure *failure)
{
    const struct elf *elf = image->own;
    const struct elf_image *own = &elf->image;

    if (!require_fit(image, failure))
        return false;
    if (elf_image_is_static(own))
        return fail(failure, own->path,
                    "expected a dynamically linked program for i386, found a static one");
    if (elf_dynamic(own, DT_TEXTREL) || elf_dynamic_value(own, DT_FLAGS, 0) & DF_TEXTREL)
        return fail(failure, own->path,
                    "expected code that the loader does not change, found relocations in it "
                    "(DT_TEXTREL); build it with -fPIC");
    return true;
}

/* A static executable's. */
static bool is_agent_inside(const struct image *image)
{
    const struct elf *elf = image->own;

    return elf_image_is_static(&elf->image);
}

static bool has_cells(const struct image *image)
{
    const struct elf *elf = image->own;

    return !elf_image_is_of_musl(&elf->image);
}

static void find_functions(struct image *image, bool with_imports)
{
    struct elf *elf = image->own;

    elf_code_read(&elf->code, &elf->image,
                  &(struct elf_code_options){.instrument_imports = with_imports});
    image->code = &elf->code.code;
    image->map = &elf->code.map;
    image->functions = &elf->code.functions;
}

static void find_names(struct image *image)
{
    struct elf *elf = image->own;

    elf_names_read(&elf->code, &elf->image);
    image->functions = &elf->code.functions;
}

static void read_debug_names(struct image *image, bool may_add)
{
    struct elf *elf = image->own;

    elf_debug_names_read(&elf->debug_names, &elf->image);
    elf_debug_names_give(&elf->debug_names, image->functions, may_add);
}

static const char *module_name(const struct image *image)
{
    const struct elf *elf = image->own;
    const Elf64_Dyn *entry = elf_dynamic(&elf->image, DT_SONAME);

    return entry ? elf_dynamic_string(&elf->image, entry->d_un.d_val) : NULL;
}

static void visit_symbols(struct elf_table symbols, struct elf_table strings, name_visitor visit,
                          void *context)
{
    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const char *name =
            symbol.st_shndx != SHN_UNDEF ? elf_string(strings, symbol.st_name) : NULL;

        if (name && *name)
            visit(context, symbol.st_value, name);
    }
}

static void visit_names(const struct image *image, name_visitor visit, void *context)
{
    const struct elf *elf = image->own;
    struct elf_table strings, symbols = elf_static_symbols(&elf->image, &strings);
    uint64_t size = elf_dynamic_value(&elf->image, DT_STRSZ, 0);

    visit_symbols(symbols, strings, visit, context);
    strings.bytes = elf_at(&elf->image, elf_dynamic_value(&elf->image, DT_STRTAB, 0), size);
    strings.count = strings.bytes ? size : 0;
    visit_symbols(elf_dynamic_symbols(&elf->image), strings, visit, context);
    visit_symbols(elf->debug_names.symbols, elf->debug_names.strings, visit, context);
}

static void plan_pointers(const struct image *image, struct patch_plan *plan)
{
    const struct elf *elf = image->own;

    elf_redirect_plan(plan, &elf->code, &elf->image);
}

static enum flow_doubt copy_doubt(const void *context, const struct function *function)
{
    const struct elf *elf = context;

    return elf_copy_doubt(&elf->code, &elf->image, function);
}

static void copy_source(const struct image *image, struct copy_source *source)
{
    const struct elf *elf = image->own;

    elf_copy_source(source, &elf->code, &elf->image);
    source->doubt = copy_doubt;
    source->context = elf;
}

static struct judge_expectation expect(const struct elf_image *image, const char *needed,
                                       const struct elf_embedding *embedding,
                                       const struct copy_plan *copies)
{
    struct judge_expectation expected = {.size = image->size,
                                         .segments = image->segment_count + ELF_NEW_SEGMENTS,
                                         .needed = embedding ? NULL : needed};

    if (embedding)
        expected.segments += elf_embedding_segments(embedding, image);
    if (image->section_count && image->section_names)
        expected.sections = image->section_count + ELF_NEW_SECTIONS +
                            (copies->count ? ELF_COPY_SECTIONS : 0) +
                            (embedding ? ELF_AGENT_SECTIONS : 0);
    return expected;
}

static bool write_image(struct image *image, const struct image_source *source,
                        struct output_file *output, struct judge_expectation *expected,
                        struct failure *failure)
{
    struct elf *elf = image->own;
    struct elf_embedding embedding;
    struct elf_writer_source writer = {
        .image = &elf->image,
        .elf = &elf->code,
        .plan = source->plan,
        .copies = source->copies,
        .original_path = source->original_path,
        .agent = source->agent->needed,
        .away = source->away,
        .original_hash = source->original_hash,
    };
    bool is_written;

    if (is_agent_inside(image) && !source->away) {
        if (!elf_embedding_open(&embedding, source->agent->path, failure))
            return false;
        writer.agent = source->agent->path;
        writer.embedding = &embedding;
    }
    is_written = elf_write(&writer, output, failure);
    *expected = expect(&elf->image, source->agent->needed, writer.embedding, source->copies);
    if (writer.embedding)
        elf_embedding_close(writer.embedding);
    return is_written;
}

const struct image_format image_format_elf = {
    .agent = &agent_elf,
    .processor = &processor_x86_64,
    .kind = elf_kind,
    .open = open_image,
    .close = close_image,
    .require_fit = require_fit,
    .is_agent_inside = is_agent_inside,
    .can_be_away = true,
    .times_chosen = true,
    .finds_imports = true,
    .has_cells = has_cells,
    .find_functions = find_functions,
    .find_names = find_names,
    .read_debug_names = read_debug_names,
    .module_name = module_name,
    .visit_names = visit_names,
    .plan_pointers = plan_pointers,
    .copy_source = copy_source,
    .write = write_image,
};

const struct image_format image_format_elf32 = {
    .agent = &agent_elf32,
    .processor = &processor_i386,
    .kind = elf_kind,
    .open = open_image,
    .close = close_image,
    .require_fit = require_fit32,
    .times_chosen = true,
    .find_functions = find_functions,
    .find_names = find_names,
    .read_debug_names = read_debug_names,
    .module_name = module_name,
    .visit_names = visit_names,
    .plan_pointers = plan_pointers,
    .write = write_image,
};
