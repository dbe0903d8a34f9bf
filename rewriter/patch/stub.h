/*
 * Stubs: the code that stands in for a patched prologue. The frame of a stub is drawn in
 * trace/image_manifest.h; its body is what this file is about.
 *
 * Displaced instructions do at their new place what they did at the old one:
 *
 *      [rip + n]               other displacement
 *      jmp, jcc                with a 32-bit displacement
 *      loop, jrcxz             loop +2; jmp +5; jmp target
 *      call                    the return address is that of the original call, so that call
 *                              sites and unwinding stay as they were:
 *
 *              call  1f                     e8 01 00 00 00   keeps the return-stack predictor
 *              int3                         cc               in step
 *          1:  push  rax                    50
 *              lea   rax, [rip + return]    48 8d 05 ........
 *              mov   [rsp + 8], rax         48 89 44 24 08
 *              pop   rax                    58
 *              jmp   target                 e9 ........   or the call's own operand, ff /4
 *
 *      In code of 32 bits, where no instruction has rip:
 *
 *              call  1f                     e8 01 00 00 00   nop; call +0 (90 e8 00 00 00 00) for one
 *              int3                         cc               that calls what follows it
 *          1:  push  eax                    50
 *              mov   eax, [esp + 4]         8b 44 24 04
 *              lea   eax, [eax + distance]  8d 80 ........   of the return address from what was pushed
 *              mov   [esp + 4], eax         89 44 24 04
 *              pop   eax                    58
 *              jmp   target                 e9 ........   or the operand
 *
 *      and a call of a get_pc_thunk becomes what that does, as for the predictor:
 *
 *              call  +0                     e8 00 00 00 00
 *              pop   reg                    58
 *              lea   reg, [reg + distance]  8d 80 ........   of the return address
 *
 *      A jump back to the function's first instruction goes to the body: it is no call.
 */
#ifndef UMBRA_REWRITER_STUB_H
#define UMBRA_REWRITER_STUB_H

#include "rewriter/code/code.h"
#include "rewriter/patch/stub_code.h"
#include "rewriter/patch/stub_kind.h"

/*
 * Where the displaced instructions went: to[n], from the body, for one that was n bytes in; the
 * last is that of the jump back, which a call, always the last to be displaced, never reaches.
 */
struct stub_moves {
    uint8_t to[PATCH_MAX_DISPLACED + 1];
    bool has_call;
    bool is_copied; /* nothing was displaced: the body is FRAME_BODY_JUMP to what is not known yet */
    uint8_t call;   /* where it was */
};

/* Offset of that jump in the body: it has a prefix. */
#define STUB_COPY_JUMP 1

/*
 * Appends the body for a function whose patch_offset and displaced are set, and the jump back if
 * control gets there. `original` are the bytes at function->address. False if an instruction
 * cannot be moved. *is_adjusted tells whether any had to be changed; moves may be null.
 */
bool stub_body_append(struct stub_segment *stubs, const struct function *function,
                      const uint8_t *original, bool *is_adjusted, struct stub_moves *moves);

/* Appends frame and body; sets function->stub and body. `index` is its place in the manifest. Where
   moves->is_copied, the body is a jump whose distance is to be filled in. */
bool stub_append(struct stub_segment *stubs, struct function *function, const uint8_t *original,
                 uint32_t index, struct stub_moves *moves);
/* Appends frame and body for an import, whose body is a jump through its slot. */
void stub_append_import(struct stub_segment *stubs, struct function *import, uint32_t index);
/* What stubs lead to. */
struct stub_targets {
    uint64_t header; /* address of the image header */
    uint64_t hook;   /* of the hook word */
};

/* Sets what points there, once the addresses are known. */
void stub_bind(struct stub_segment *stubs, const struct function *function,
               const struct stub_targets *targets);

/* Whether the processor->stub_frame_size bytes of a stub at `address` are what trace/image_manifest.h draws. */
bool stub_is_frame(const struct processor *processor, const uint8_t *stub, uint64_t address,
                   const struct stub_targets *targets, uint32_t index);

#endif
