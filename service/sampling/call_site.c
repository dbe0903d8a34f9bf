#include "service/sampling/call_site.h"

#include <stddef.h>

/* Is it ff /2 with its operand, no more and no less? */
static bool is_indirect_call(const unsigned char *code, size_t length)
{
    unsigned mod = code[1] >> 6, operation = code[1] >> 3 & 7, base = code[1] & 7;
    size_t sib = mod != 3 && base == 4;
    size_t displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;

    if (code[0] != 0xff || operation != 2 || length < 2 + sib)
        return false;
    if (mod == 0 && (base == 5 || (sib && (code[2] & 7) == 5))) /* rip; no base */
        displacement = 4;
    return length == 2 + sib + displacement;
}

bool call_site_is_at_end(const unsigned char code[CALL_SITE_BYTES])
{
    const unsigned char *end = code + CALL_SITE_BYTES;

    if (end[-5] == 0xe8)
        return true;
    for (size_t length = 2; length <= CALL_SITE_BYTES; length++) {
        if (is_indirect_call(end - length, length))
            return true;
    }
    return false;
}
