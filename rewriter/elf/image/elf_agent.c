#include "rewriter/elf/image/elf_agent.h"

#include <string.h>

#include "rewriter/elf/image/elf_image.h"
#include "trace/image_manifest.h"

/* Installed, then in the build tree. */
#define PLACES(name)                                                                               \
    {                                                                                              \
        "../lib*/umbra/" name, "../lib/*/umbra/" name, "../hooks/" name, NULL                      \
    }

static const char *const places[] = PLACES(IMAGE_AGENT_NAME);
static const char *const places_i386[] = PLACES(IMAGE_AGENT_NAME_I386);

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

static bool check_for(const struct elf_class *class, const char *path, uint8_t *bytes, size_t size,
                      struct failure *failure)
{
    struct elf_image image;
    bool is_agent = false;

    if (!elf_image_read(&image, path, bytes, size, failure))
        return false;
    if (image.class != class)
        fail(failure, path, "expected the agent for %s, found a library for %s",
             class->processor->name, image.class->processor->name);
    else if (!has_hook_export(&image))
        fail(failure, path, "expected the agent, found a library without %s", IMAGE_HOOK_SYMBOL);
    else
        is_agent = true;
    elf_image_free(&image);
    return is_agent;
}

static bool check(const char *path, uint8_t *bytes, size_t size, struct failure *failure)
{
    return check_for(&elf_class_x86_64, path, bytes, size, failure);
}

static bool check_i386(const char *path, uint8_t *bytes, size_t size, struct failure *failure)
{
    return check_for(&elf_class_i386, path, bytes, size, failure);
}

const struct agent_format agent_elf = {
    .name = IMAGE_AGENT_NAME,
    .bundle_prefix = "$ORIGIN/",
    .places = places,
    .advice = "install it with the tool",
    .check = check,
};

const struct agent_format agent_elf32 = {
    .name = IMAGE_AGENT_NAME_I386,
    .bundle_prefix = "$ORIGIN/",
    .places = places_i386,
    .advice = "install it with the tool",
    .check = check_i386,
};
