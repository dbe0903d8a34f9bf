#include "grinder/report/report_write.h"

#include <stdlib.h>

#include "grinder/report/data.h"
#include "grinder/report/disassembly.h"
#include "support/memory.h"

static uint64_t *self_of_functions(const struct report *report)
{
    uint64_t *self = memory_zeroed(images_function_count(report->images), sizeof(*self));

    for (size_t p = 0; p < report->profile->part_count; p++) {
        const struct cost_table *functions = &report->profile->parts[p].functions;
        for (size_t i = 0; i < functions->keys.count; i++)
            self[functions->keys.pairs[i].a] += functions->costs[i].self_ns;
    }
    return self;
}

static bool selects_functions(const struct profile *profile)
{
    return profile->selection && profile->selection->functions.count;
}

static void write_data(const struct report *report, const struct report_files *files,
                       const uint32_t *chunk_of, struct page *page)
{
    FILE *stream = page_begin_chunk(page, "data");
    struct slices slices = {0};

    if (!stream)
        return;
    /* Slices are of whole threads, and of this recording's own times. */
    if (!selects_functions(report->profile) && !report->profile->borrowed.path)
        slices_read(&slices, report->profile, report->images);
    data_write(stream, report, files, chunk_of, &slices);
    page_end_chunk(page);
    slices_free(&slices);
}

bool report_write(const struct report *report, const char *path, bool folder,
                  struct failure *failure)
{
    struct report_files files;
    uint32_t *chunk_of;
    uint64_t *self_ns;
    struct page page;
    bool is_written;

    if (!report_files_begin(&files, report, failure))
        return false;
    if (!page_begin(&page, path, folder, failure)) {
        report_files_free(&files);
        return false;
    }
    chunk_of = memory_zeroed(images_function_count(report->images), sizeof(*chunk_of));
    self_ns = self_of_functions(report);
    report_files_write(&files, report, &page);
    disassembly_write(report, &files, self_ns, &page, chunk_of);
    write_data(report, &files, chunk_of, &page);
    free(self_ns);
    free(chunk_of);
    is_written = page_end(&page, failure);
    if (is_written)
        report_files_say(&files, report, path);
    report_files_free(&files);
    return is_written;
}
