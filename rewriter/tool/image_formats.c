#include "rewriter/tool/image_formats.h"

#include "rewriter/elf/elf_image_format.h"
#include "rewriter/elf/image/elf_class.h"
#include "rewriter/pe/pe_image.h"
#include "rewriter/pe/pe_image_format.h"

const struct image_format *image_format_of(const uint8_t *bytes, size_t size)
{
    if (pe_is_pe(bytes, size))
        return pe_machine(bytes, size) == PE_MACHINE_I386 ? &image_format_pe32 : &image_format_pe;
    return elf_class_of(bytes, size) == &elf_class_i386 ? &image_format_elf32 : &image_format_elf;
}

bool image_open(struct image *image, const struct input_file *input, struct failure *failure)
{
    *image = (struct image){
        .format = image_format_of(input->bytes, input->size),
        .input = input,
    };
    return image->format->open(image, failure);
}

void image_close(struct image *image)
{
    if (image->own)
        image->format->close(image);
    image->own = NULL;
}
