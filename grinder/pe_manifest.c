/* Where a PE image holds its manifest: the header at the start of .umbraw tells. */
#include <stdlib.h>

#include "grinder/pe_file.h"
#include "trace/image_manifest.h"

struct image_manifest *pe_manifest_read(const struct pe_file *pe)
{
    const struct pe_section *section = pe_section_named(pe, IMAGE_PE_HEADER);
    struct image_manifest *head = NULL, *whole = NULL;
    struct image_header header;

    if (!section || bounded_file_read(&pe->file, &header, sizeof(header), section->offset) < 0 ||
        header.magic != IMAGE_MAGIC)
        return NULL;
    head = pe_read(pe, header.manifest_rva, sizeof(*head));
    if (head && head->size >= sizeof(*head))
        whole = pe_read(pe, header.manifest_rva, head->size);
    free(head);
    return whole;
}
