#include "hooks/targets.h"

#include "hooks/frames.h"
#include "hooks/lasting.h"
#include "hooks/memory.h"
#include "hooks/modules.h"
#include "thunkstash/pages.h"
#include "trace/image_manifest.h"

#define CALL_SIZE  5
#define ENDBR64    0xfa1e0ff3 /* as a word */
#define SHORT_JUMP 0xeb
#define NEAR_JUMP  0xe9
#define FOUND_BITS 10

static const uint8_t stub_begins[sizeof(uint64_t)] = {0x48, 0x89, 0x4c, 0x24,
                                                      0xe8, 0x48, 0x8b, 0x0d};

/* Keys of targets that were found, by the low bits of a product of the target. Only of images that
   last, so that a key can be read for good; whether it is the target's can be told from it. So
   threads may write here as they like. */
static const struct frame_key *found_keys[1u << FOUND_BITS];

bool target_leads_to(uint64_t address, const struct frame_key *key)
{
    const struct image_header *image = frame_image(key);
    const struct image_manifest *manifest = module_manifest(image);
    const struct manifest_function *function = &module_functions(manifest)[key->index & ~STUB_LEAF];
    uint64_t base = (uint64_t)image - image->header_rva;

    return address == base + function->rva || address == base + function->stub_rva;
}

const struct frame_key *target_key(uint64_t address)
{
    const uint8_t *code = (const uint8_t *)address;

    if (*(const uint32_t *)code == ENDBR64)
        code += sizeof(uint32_t);
    if (*code == SHORT_JUMP)
        code += 2 + (int8_t)code[1];
    if (*code == NEAR_JUMP)
        code += CALL_SIZE + *(const int32_t *)(code + 1);
    if (memcmp(code, stub_begins, sizeof(stub_begins)) != 0 ||
        !frame_is_body((uint64_t)code + STUB_FRAME_SIZE))
        return NULL;
    return frame_key_before(frame_copy_of((uint64_t)code + STUB_FRAME_SIZE));
}

/* What target_key reads can be read, and it is a stub that it comes to. */
static bool is_stub(uint64_t address)
{
    uint64_t code, jump = address;

    if (!pages_read_own(address, &code))
        return false;
    if ((uint32_t)code == ENDBR64 && !pages_read_own(jump += sizeof(uint32_t), &code))
        return false;
    if ((uint8_t)code == SHORT_JUMP &&
        !pages_read_own(jump += 2 + (uint64_t)(int8_t)(code >> 8), &code))
        return false;
    if ((uint8_t)code == NEAR_JUMP &&
        !pages_read_own(jump + CALL_SIZE + (uint64_t)(int32_t)(code >> 8), &code))
        return false;
    return memcmp(&code, stub_begins, sizeof(code)) == 0;
}

static const struct frame_key **place_of(uint64_t address)
{
    return &found_keys[address * 0x9e3779b97f4a7c15 >> (64 - FOUND_BITS)];
}

const struct frame_key *target_key_if_code(uint64_t address)
{
    const struct frame_key *key = __atomic_load_n(place_of(address), __ATOMIC_RELAXED);

    if (key && target_leads_to(address, key))
        return key;
    key = is_stub(address) ? target_key(address) : NULL;
    if (!key || !target_leads_to(address, key))
        return NULL;
    if (lasting_image_has(address) && lasting_image_has((uint64_t)key))
        __atomic_store_n(place_of(address), key, __ATOMIC_RELAXED);
    return key;
}
