#include "rewriter/functions/patch_reason.h"

#include <stddef.h>

static const struct {
    uint8_t reason;
    const char *word;
} words[] = {
    {PATCH_PLAIN, "plain"},
    {PATCH_ADJUSTED, "adjusted"},
    {PATCH_PADDING, "padding"},
    {PATCH_SHORT_JUMP, "short-jump"},
    {PATCH_REDIRECTED, "redirected"},
    {PATCH_IMPORT, "import"},
    {PATCH_FRAGMENT, "fragment"},
    {PATCH_NO_RETURN_ADDRESS, "no-return-address"},
    {PATCH_SIGNAL_FRAME, "signal-frame"},
    {PATCH_PLT, "plt"},
    {PATCH_RETURN_ADDRESS, "return-address"},
    {PATCH_RETURNS_TWICE, "returns-twice"},
    {PATCH_UNWINDER, "unwinder"},
    {PATCH_INSIDE_FUNCTION, "inside-function"},
    {PATCH_GENERATED, "generated"},
    {PATCH_MEMORY_LOCK, "memory-lock"},
    {PATCH_FRAME_TABLE, "frame-table"},
    {PATCH_INFO_TABLE, "info-table"},
    {PATCH_IMPORT_SPECIAL, "import-special"},
    {PATCH_EXCLUDED, "excluded"},
    {PATCH_TOO_SHORT, "too-short"},
    {PATCH_BRANCH_TARGET, "branch-target"},
    {PATCH_LOOP_AT_ENTRY, "loop-at-entry"},
    {PATCH_CALL_IN_PATCH, "call-in-patch"},
    {PATCH_UNMOVABLE, "unmovable"},
    {PATCH_UNDECODABLE, "undecodable"},
    {PATCH_GUARDED, "guarded"},
};

const char *patch_reason_word(uint8_t reason)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (words[i].reason == reason)
            return words[i].word;
    return "?";
}

bool patch_reason_is_hooked(uint8_t reason)
{
    return reason >= PATCH_PLAIN && reason < PATCH_FRAGMENT;
}

bool patch_reason_is_unsafe(uint8_t reason)
{
    return reason >= PATCH_TOO_SHORT;
}
