/* The grinder's reading of whole stacks, and of where the functions of an image begin that was
 * sampled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grinder/image/function_starts.h"
#include "grinder/unwind/stacks_file.h"
#include "tests/fuzz/harness.h"

static size_t sum;

/* Memory is no more than the file has. */
static void read_stacks(struct stacks_file *file)
{
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    size_t room = 0;
    int kind;

    while ((kind = stacks_file_next(file, &mapping, &sample, &dump))) {
        if (kind == STACKS_MAP) {
            sum += strlen(mapping.path) + mapping.build_id[mapping.build_id_size % 20];
            if (mapping.build_id_size > sizeof(mapping.build_id))
                abort();
            continue;
        }
        if (dump->size > STACKS_MOST_STACK || dump->size % 8 || dump->tid != sample.tid)
            abort();
        for (size_t i = 0; i < dump->size; i++)
            sum += dump->bytes[i];
    }
    for (size_t i = 0; i < file->dump_count; i++)
        room += file->dumps[i]->room;
    if (room > 2 * file->size)
        abort();
}

static void read_starts(const struct image_file *image)
{
    struct loaded_ranges ranges;
    struct manifest manifest;

    if (!image_file_ranges(image, &ranges))
        return;
    if (function_starts_read(&manifest, image, &ranges)) {
        for (size_t i = 0; i < manifest.function_count; i++) {
            const struct loaded_range *range = loaded_range_at(&ranges, manifest.functions[i].rva);
            if (!range || !range->is_executable ||
                (i && manifest.functions[i].rva <= manifest.functions[i - 1].rva))
                abort();
        }
        if (!manifest.function_count)
            abort();
        manifest_free(&manifest);
    }
    loaded_ranges_free(&ranges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int memory = memory_file(data, size);
    struct stacks_file stacks;
    struct image_file image;
    struct failure failure = {""};
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
    if (stacks_file_open(&stacks, path, &failure)) {
        read_stacks(&stacks);
        stacks_file_rewind(&stacks);
        read_stacks(&stacks);
        stacks_file_close(&stacks);
    } else if (image_file_open(&image, path, &failure)) {
        read_starts(&image);
        image_file_close(&image);
    } else {
        check_refusal(failure.text);
    }
    close(memory);
    return 0;
}
