#include "rewriter/format/ocaml_code.h"

#include <stdbool.h>

#include "rewriter/code/find_bytes.h"

#define LONGEST 13 /* bytes of the three */

static const uint8_t lowers_pointer[] = {0x49, 0x83, 0xef};

/* Bytes of the comparison; 0 if it is none. */
static size_t comparison(const uint8_t *code)
{
    if (code[1] != 0x3b)
        return 0;
    if (code[0] == 0x4d)
        return code[2] == 0x3e ? 3 : code[2] == 0x7e ? 4 : 0;
    if (code[0] == 0x4c)
        return code[2] == 0x3d ? 7 : code[2] == 0x38 ? 3 : 0;
    return 0;
}

static bool is_allocation(const uint8_t *code)
{
    const uint8_t *compare = code + sizeof(lowers_pointer) + 1;
    size_t size = comparison(compare);
    const uint8_t *jump = compare + size;

    return size && (jump[0] == 0x72 || (jump[0] == 0x0f && jump[1] == 0x82));
}

size_t ocaml_code_count(const uint8_t *bytes, size_t size)
{
    const uint8_t *at = bytes, *end = bytes + size;
    size_t count = 0;

    while (at < end && (at = find_bytes(at, end, lowers_pointer, sizeof(lowers_pointer)))) {
        if (end - at >= LONGEST && is_allocation(at))
            count++;
        at++;
    }
    return count;
}
