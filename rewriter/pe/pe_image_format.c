#include "rewriter/pe/pe_image_format.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/pe/pe_agent.h"
#include "rewriter/pe/pe_checksum.h"
#include "rewriter/pe/pe_discover.h"
#include "rewriter/pe/pe_kind.h"
#include "rewriter/pe/pe_room.h"
#include "rewriter/pe/pe_writer.h"
#include "support/memory.h"

/* What image->own is. */
struct pe {
    struct pe_image image;
    struct pe_room room;
    struct change_list changes; /* what of the headers will change */
    struct pe_code code;
};

static bool open_image(struct image *image, struct failure *failure)
{
    const struct input_file *input = image->input;
    struct pe *pe = memory_zeroed(1, sizeof(*pe));

    if (!pe_image_read(&pe->image, input->path, input->bytes, input->size, failure)) {
        free(pe);
        return false;
    }
    image->base = pe->image.base;
    image->end = pe->image.end;
    image->own = pe;
    return true;
}

static void close_image(struct image *image)
{
    struct pe *pe = image->own;

    pe_code_free(&pe->code);
    pe_image_free(&pe->image);
    pe_room_free(&pe->room);
    free(pe->changes.items);
    free(pe);
}

static bool require_fit(const struct image *image, struct failure *failure)
{
    const struct pe *pe = image->own;

    return pe_image_require_supported(&pe->image, failure);
}

static bool has_signature(const struct image *image)
{
    const struct pe *pe = image->own;

    return pe->image.directory[PE_CERTIFICATES].size;
}

static bool make_room(struct image *image, struct failure *failure)
{
    struct pe *pe = image->own;

    return pe_room_make(&pe->room, &pe->image, &pe->changes, failure);
}

static void find_functions(struct image *image, bool with_imports)
{
    struct pe *pe = image->own;

    pe_code_read(&pe->code, &pe->image,
                 &(struct pe_code_options){.instrument_imports = with_imports});
    image->code = &pe->code.code;
    image->map = &pe->code.map;
    image->functions = &pe->code.functions;
}

static void find_names(struct image *image)
{
    struct pe *pe = image->own;

    pe_names_read(&pe->code, &pe->image);
    image->functions = &pe->code.functions;
}

/* The image's name as its export directory has it. */
static const char *module_name(const struct image *image)
{
    const struct pe *pe = image->own;
    struct pe_table directory =
        pe_directory_table(&pe->image, PE_EXPORTS, sizeof(struct pe_exports));
    struct pe_exports exports;

    if (directory.count == 0)
        return NULL;
    memcpy(&exports, directory.bytes, sizeof(exports));
    return pe_string(&pe->image, exports.name);
}

static void visit_names(const struct image *image, name_visitor visit, void *context)
{
    const struct pe *pe = image->own;
    struct pe_code names;

    pe_aliases_read(&names, &pe->image);
    for (size_t i = 0; i < names.functions.count; i++)
        if (names.functions.items[i].name)
            visit(context, names.functions.items[i].address, names.functions.items[i].name);
    pe_code_free(&names);
}

static bool write_image(struct image *image, const struct image_source *source,
                        struct output_file *output, struct judge_expectation *expected,
                        struct failure *failure)
{
    struct pe *pe = image->own;
    struct pe_writer_source writer = {
        .image = &pe->image,
        .pe = &pe->code,
        .plan = source->plan,
        .changes = &pe->changes,
        .original_path = source->original_path,
        .agent = source->agent->needed,
        .original_size = image->input->size,
        .original_hash = source->original_hash,
    };

    *expected = (struct judge_expectation){
        .is_pe = true,
        .size = pe->image.size,
        .sections = pe->image.section_count + PE_NEW_SECTIONS,
        .needed = source->agent->needed,
    };
    return pe_write(&writer, output, failure);
}

/* The checksum is 0 where the seal counts it. */
static bool take_back(struct image *image, struct failure *failure)
{
    const struct pe_image *own = &((struct pe *)image->own)->image;
    size_t field = own->optional + offsetof(struct pe_optional_header, checksum);
    uint32_t found = own->header.checksum, sum = 0;

    if (found == 0)
        return true;
    if (field % 2 == 0 && (sum = pe_checksum(own->bytes, own->size, field)) != found)
        return fail(failure, own->path,
                    "changed after it was written: expected checksum %#x, found %#x; instrument "
                    "it again",
                    sum, found);
    memset(own->bytes + field, 0, sizeof(found));
    return true;
}

const struct image_format image_format_pe = {
    .agent = &agent_pe,
    .processor = &processor_x86_64,
    .finds_imports = true,
    .kind = pe_kind,
    .open = open_image,
    .close = close_image,
    .require_fit = require_fit,
    .has_signature = has_signature,
    .make_room = make_room,
    .find_functions = find_functions,
    .find_names = find_names,
    .module_name = module_name,
    .visit_names = visit_names,
    .write = write_image,
    .take_back = take_back,
};

const struct image_format image_format_pe32 = {
    .agent = &agent_pe32,
    .processor = &processor_i386,
    .kind = pe_kind,
    .open = open_image,
    .close = close_image,
    .require_fit = require_fit,
    .has_signature = has_signature,
    .make_room = make_room,
    .find_functions = find_functions,
    .find_names = find_names,
    .module_name = module_name,
    .visit_names = visit_names,
    .write = write_image,
    .take_back = take_back,
};
