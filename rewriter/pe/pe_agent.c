#include "rewriter/pe/pe_agent.h"

#include "rewriter/pe/pe_image.h"
#include "trace/image_manifest.h"

/* Installed, then in a build tree for Windows that lies in the one for Linux or beside it. */
static const char *const places[] = {
    "../lib*/umbra/" IMAGE_PE_AGENT_NAME,
    "../lib/*/umbra/" IMAGE_PE_AGENT_NAME,
    "../hooks/" IMAGE_PE_AGENT_NAME,
    "../windows/hooks/" IMAGE_PE_AGENT_NAME,
    "../../windows/hooks/" IMAGE_PE_AGENT_NAME,
    IMAGE_PE_AGENT_NAME,
    NULL,
};

static bool check(const char *path, uint8_t *bytes, size_t size, struct failure *failure)
{
    struct pe_image image;
    bool is_agent = pe_image_read(&image, path, bytes, size, failure);

    if (is_agent) {
        is_agent = pe_image_is_agent(&image) ||
                   fail(failure, path, "expected the agent, found a library without %s",
                        IMAGE_HOOK_SYMBOL);
        pe_image_free(&image);
    }
    return is_agent;
}

const struct agent_format agent_pe = {
    .name = IMAGE_PE_AGENT_NAME,
    .bundle_prefix = "",
    .is_always_bundled = true,
    .places = places,
    .advice = "build it with cross/mingw-w64.ini and install it (docs/windows.md)",
    .check = check,
};
