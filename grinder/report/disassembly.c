#include "grinder/report/disassembly.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/image/decoder.h"
#include "grinder/image/original_bytes.h"
#include "support/memory.h"
#include "support/sorted.h"

#define CHUNK_SIZE    (64u << 10)  /* of instructions' text, about */
#define FUNCTION_SIZE (256u << 10) /* bytes of code that are shown of one */
#define PLAIN_LIMIT   (4u << 20)   /* of the text of plain files' instructions */
#define SINGLE_LIMIT  (16u << 20)  /* of all instructions' text, in a single file */
#define LINE_SIZE     200

struct listing {
    const struct report *report;
    struct page *page;
    uint32_t *chunk_of;
    struct original_bytes *originals; /* by image */
    bool *opened;                     /* by image */
    uint32_t *by_address;             /* functions, ascending by image and rva */
    size_t function_count;
    ZydisDecoder decoder; /* of the image of the function at hand */
    ZydisFormatter formatter;
    FILE *stream;        /* of the open chunk */
    uint32_t chunk;      /* its number */
    uint64_t chunk_size; /* text in it so far */
    uint64_t size;       /* text of instructions in all chunks */
    uint64_t plain_size; /* of those of plain files */
};

/* For qsort, which passes nothing on. */
static const struct function *sorted_functions;
static const uint64_t *sorted_ns;

static int compare_addresses(const void *left, const void *right)
{
    const struct function *a = &sorted_functions[*(const uint32_t *)left];
    const struct function *b = &sorted_functions[*(const uint32_t *)right];

    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    return a->rva < b->rva ? -1 : a->rva > b->rva;
}

static int compare_ns(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (sorted_ns[a] != sorted_ns[b])
        return sorted_ns[a] > sorted_ns[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The recorded function that begins there; 0 if there is none. */
static uint32_t function_at(const struct listing *listing, uint32_t image, uint64_t rva)
{
    const struct function *functions = listing->report->images->functions;
    const uint32_t *sorted = listing->by_address;
    size_t found = partition_point(
        i, listing->function_count,
        functions[sorted[i]].image < image ||
            (functions[sorted[i]].image == image && functions[sorted[i]].rva < rva));

    if (found == listing->function_count || functions[sorted[found]].image != image ||
        functions[sorted[found]].rva != rva)
        return 0;
    return sorted[found];
}

/* A plain file tells only where functions begin: one ends where the next begins. */
static uint32_t size_of(const struct image *image, uint32_t index)
{
    const struct manifest_function *functions = image->manifest.functions;
    const struct loaded_range *range;
    uint64_t end;

    if (!image->is_plain)
        return functions[index].size;
    range = loaded_range_at(&image->ranges, functions[index].rva);
    if (!range)
        return 0;
    end = range->rva + range->size;
    if (index + 1 < image->manifest.function_count && functions[index + 1].rva < end)
        end = functions[index + 1].rva;
    end -= functions[index].rva;
    return end < FUNCTION_SIZE ? (uint32_t)end : FUNCTION_SIZE;
}

/* The code of a function; null if it is not known. */
static const uint8_t *code_of(struct listing *listing, const struct function *function,
                              uint32_t *size)
{
    const struct image *image = &listing->report->images->images[function->image];

    if (image->problem || !function->rva || function->index >= image->manifest.function_count)
        return NULL;
    if (!listing->opened[function->image] && image->is_plain)
        original_bytes_read_plain(&listing->originals[function->image], image->file);
    else if (!listing->opened[function->image])
        original_bytes_read(&listing->originals[function->image], image->file, &image->manifest);
    listing->opened[function->image] = true;
    *size = size_of(image, function->index);
    if (*size > FUNCTION_SIZE)
        *size = FUNCTION_SIZE;
    return *size ? original_bytes_at(&listing->originals[function->image], function->rva, *size)
                 : NULL;
}

/* One line; returns the instruction's length. */
static uint32_t write_instruction(struct listing *listing, const struct function *function,
                                  const uint8_t *code, uint32_t at, uint32_t size)
{
    const struct image *image = &listing->report->images->images[function->image];
    uint64_t address = image->manifest.head->preferred_base + function->rva + at, target;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction instruction;
    char line[LINE_SIZE], text[LINE_SIZE] = "";
    uint32_t callee = 0;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&listing->decoder, code + at, size - at, &instruction,
                                             operands))) {
        snprintf(line, sizeof(line), "%s%" PRIu32 "\tdb 0x%02x", at ? "\n" : "", at, code[at]);
        instruction.length = 1;
    } else {
        ZydisFormatterFormatInstruction(&listing->formatter, &instruction, operands,
                                        instruction.operand_count_visible, text, sizeof(text) - 32,
                                        address, ZYAN_NULL);
        if (operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[0].imm.is_relative &&
            ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operands[0], address, &target)))
            callee = function_at(listing, function->image,
                                 target - image->manifest.head->preferred_base);
        snprintf(line, sizeof(line), callee ? "%s%" PRIu32 "\t%s\t%" PRIu32 : "%s%" PRIu32 "\t%s",
                 at ? "\n" : "", at, text, callee);
    }
    for (const char *c = line; *c; c++) {
        if (*c == '\n' || *c == '\t')
            fputs(*c == '\n' ? "\\n" : "\\t", listing->stream);
        else
            putc(*c, listing->stream);
    }
    listing->chunk_size += strlen(line);
    return instruction.length;
}

static void end_chunk(struct listing *listing)
{
    if (!listing->stream)
        return;
    putc('}', listing->stream);
    page_end_chunk(listing->page);
    listing->page->text += listing->chunk_size;
    listing->stream = NULL;
    listing->chunk++;
    listing->chunk_size = 0;
}

static bool begin_chunk(struct listing *listing)
{
    char name[32];

    snprintf(name, sizeof(name), "d%" PRIu32, listing->chunk);
    listing->stream = page_begin_chunk(listing->page, name);
    if (listing->stream)
        putc('{', listing->stream);
    return listing->stream != NULL;
}

static void list_function(struct listing *listing, uint32_t number)
{
    const struct function *function = &listing->report->images->functions[number];
    uint64_t before;
    uint32_t size;
    const uint8_t *code = code_of(listing, function, &size);

    if (!code || !page_has_room(listing->page, listing->chunk_size + (uint64_t)size * 12))
        return;
    if (!listing->stream && !begin_chunk(listing))
        return;
    listing->chunk_of[number] = listing->chunk;
    fprintf(listing->stream, "%s\"%" PRIu32 "\":\"", listing->chunk_size ? "," : "", number);
    before = listing->chunk_size;
    decoder_begin(&listing->decoder, &listing->report->images->images[function->image].ranges);
    for (uint32_t at = 0; at < size;)
        at += write_instruction(listing, function, code, at, size);
    listing->size += listing->chunk_size - before;
    if (listing->report->images->images[function->image].is_plain)
        listing->plain_size += listing->chunk_size - before;
    putc('"', listing->stream);
    if (listing->chunk_size >= CHUNK_SIZE)
        end_chunk(listing);
}

/* In a plain file there is nothing to be seen but where samples met the function: those with most
 * are enough. A browser has to read a single file whole. */
static bool is_worth_showing(const struct listing *listing, uint32_t number, uint64_t self_ns)
{
    const struct images *images = listing->report->images;

    if (!listing->page->folder && listing->size >= SINGLE_LIMIT)
        return false;
    return !images->images[images->functions[number].image].is_plain ||
           (self_ns && listing->plain_size < PLAIN_LIMIT);
}

static void listing_begin(struct listing *listing, const struct images *images)
{
    size_t count = images_function_count(images) - 1;

    listing->originals = memory_zeroed(images->count, sizeof(*listing->originals));
    listing->opened = memory_zeroed(images->count, sizeof(*listing->opened));
    listing->by_address = memory_zeroed(count + 1, sizeof(*listing->by_address));
    listing->function_count = count;
    for (uint32_t i = 0; i < count; i++)
        listing->by_address[i] = i + 1;
    sorted_functions = images->functions;
    qsort(listing->by_address, count, sizeof(*listing->by_address), compare_addresses);
    ZydisFormatterInit(&listing->formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(&listing->formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&listing->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&listing->formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                              ZYDIS_PADDING_DISABLED);
}

void disassembly_write(const struct report *report, const struct report_files *files,
                       const uint64_t *self_ns, struct page *page, uint32_t *chunk_of)
{
    struct listing listing = {.report = report, .page = page, .chunk_of = chunk_of};
    size_t count = images_function_count(report->images);
    uint32_t *order = memory_zeroed(count, sizeof(*order));

    listing_begin(&listing, report->images);
    for (uint32_t i = 0; i < count; i++) {
        chunk_of[i] = UINT32_MAX;
        order[i] = i;
    }
    sorted_ns = self_ns;
    qsort(order, count, sizeof(*order), compare_ns);
    for (size_t i = 0; i < count; i++) {
        enum report_file_state state = files->files[report_file_of(files, report, order[i])].state;
        if (order[i] && state != FILE_READ && state != FILE_CHANGED &&
            is_worth_showing(&listing, order[i], self_ns[order[i]]))
            list_function(&listing, order[i]);
    }
    end_chunk(&listing);
    for (size_t i = 0; i < report->images->count; i++)
        original_bytes_free(&listing.originals[i]);
    free(listing.originals);
    free(listing.opened);
    free(listing.by_address);
    free(order);
}
