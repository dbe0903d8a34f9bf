#include "rewriter/pe/pe_agent.h"

#include "rewriter/pe/pe_image.h"
#include "trace/agent_name.h"
#include "trace/image_manifest.h"

/* Installed, then in a build tree for Windows that lies in the one for Linux or beside it. */
#define PLACES(name, build)                                                                        \
    {                                                                                              \
        "../lib*/umbra/" name, "../lib/*/umbra/" name, "../hooks/" name,                           \
            "../" build "/hooks/" name, "../../" build "/hooks/" name, name, NULL                  \
    }

static const char *const places[] = PLACES(IMAGE_PE_AGENT_NAME, "windows");
static const char *const places_i386[] = PLACES(IMAGE_PE_AGENT_NAME_I386, "windows32");

static bool check_for(const struct processor *processor, const char *path, uint8_t *bytes,
                      size_t size, struct failure *failure)
{
    struct pe_image image;
    bool is_agent = pe_image_read(&image, path, bytes, size, failure);

    if (is_agent) {
        is_agent = image.processor == processor ||
                   fail(failure, path, "expected the agent for %s, found a library for %s",
                        processor->name, image.processor->name);
        is_agent =
            is_agent && (pe_image_is_agent(&image) ||
                         fail(failure, path, "expected the agent, found a library without %s",
                              IMAGE_HOOK_SYMBOL));
        pe_image_free(&image);
    }
    return is_agent;
}

static bool check(const char *path, uint8_t *bytes, size_t size, struct failure *failure)
{
    return check_for(&processor_x86_64, path, bytes, size, failure);
}

static bool check_i386(const char *path, uint8_t *bytes, size_t size, struct failure *failure)
{
    return check_for(&processor_i386, path, bytes, size, failure);
}

const struct agent_format agent_pe = {
    .name = IMAGE_PE_AGENT_NAME,
    .bundle_prefix = "",
    .is_always_bundled = true,
    .places = places,
    .advice = "build it with cross/mingw-w64.ini and install it (docs/windows.md)",
    .check = check,
};

const struct agent_format agent_pe32 = {
    .name = IMAGE_PE_AGENT_NAME_I386,
    .bundle_prefix = "",
    .is_always_bundled = true,
    .places = places_i386,
    .advice = "build it with cross/mingw-w64-i686.ini and install it (docs/windows.md)",
    .check = check_i386,
};
