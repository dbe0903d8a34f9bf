#include "rewriter/elf/image/elf_agent.h"

#include <string.h>

#include "rewriter/elf/image/elf_image.h"
#include "trace/image_manifest.h"

/* Installed, then in the build tree. */
static const char *const places[] = {
    "../lib*/umbra/" IMAGE_AGENT_NAME,
    "../lib/*/umbra/" IMAGE_AGENT_NAME,
    "../hooks/" IMAGE_AGENT_NAME,
    NULL,
};

static bool has_hook_export(const struct elf_image *image)
{
    struct elf_table symbols = elf_dynamic_symbols(image);

    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const char *name = elf_dynamic_string(image, symbol.st_name);

        if (symbol.st_shndx != SHN_UNDEF && name && strcmp(name, IMAGE_HOOK_SYMBOL) == 0)
            return true;
    }
    return false;
}

static bool check(const char *path, uint8_t *bytes, size_t size, struct failure *failure)
{
    struct elf_image image;
    bool is_agent = elf_image_read(&image, path, bytes, size, failure);

    if (is_agent) {
        is_agent = has_hook_export(&image) ||
                   fail(failure, path, "expected the agent, found a library without %s",
                        IMAGE_HOOK_SYMBOL);
        elf_image_free(&image);
    }
    return is_agent;
}

const struct agent_format agent_elf = {
    .name = IMAGE_AGENT_NAME,
    .bundle_prefix = "$ORIGIN/",
    .places = places,
    .advice = "install it with the tool",
    .check = check,
};
