#include "rewriter/tool/refusal.h"

#include "rewriter/tool/image_formats.h"

enum instrument_reason refusal_unread(const struct input_file *input)
{
    switch (input->problem) {
    case INPUT_TOO_LARGE:
        return REASON_MEMORY;
    case INPUT_UNREADABLE:
        return REASON_INPUT;
    default:
        return REASON_NO_IMAGE;
    }
}

enum instrument_reason refusal_unfit(const struct input_file *input)
{
    switch (image_format_of(input->bytes, input->size)->kind(input->bytes, input->size)) {
    case IMAGE_KIND_OTHER:
        return REASON_NO_IMAGE;
    case IMAGE_KIND_MACHINE:
        return REASON_MACHINE;
    case IMAGE_KIND_GO:
        return REASON_GO;
    case IMAGE_KIND_INSTRUMENTED:
        return REASON_INSTRUMENTED;
    case IMAGE_KIND_AGENT:
        return REASON_AGENT;
    case IMAGE_KIND_MALFORMED:
        return REASON_MALFORMED;
    case IMAGE_KIND_ORIGINAL:
        break;
    }
    return REASON_UNSUPPORTED;
}
