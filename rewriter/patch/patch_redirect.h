/*
 * The last rung: a function whose first bytes cannot give way stays as it is, and everything that
 * leads to it is sent to its stub instead, which goes on to the function.
 *
 *      caller:     call  function          ->  call  stub
 *                  jmp   function          ->  jmp   stub          a tail call
 *                  lea   reg, [function]   ->  lea   reg, [stub]
 *      data:       .quad function          ->  .quad stub          as a relocation tells
 *
 *      stub:       frame, as of any stub
 *      body:       jmp   function
 *
 * Whatever was missed reaches the function itself, which is whole: it would not be counted, and its
 * address would not equal that of the others. So it is all or nothing: a function is redirected if
 * each way that is seen can be changed. Not so if there is a short branch, a reference from bytes
 * that no function covers, or a way that the image format bars; or, in code linked to a fixed
 * address, the address as a number anywhere, of 32 bits or more, which may be a pointer or not; or, in PIC code
 * of 32 bits, its distance from the global offset table.
 * Neither is a function redirected if something other than padding or another function is in front of it:
 * whoever has the address may read that (info tables, KCFI's hashes), and there is none in front of a stub.
 */
#ifndef UMBRA_REWRITER_PATCH_REDIRECT_H
#define UMBRA_REWRITER_PATCH_REDIRECT_H

#include "rewriter/patch/patch_plan.h"
#include "rewriter/patch/stub.h"

/* Addresses that the image format leads to. */
struct patch_ways {
    struct address_set known;       /* and can change */
    struct address_set barred;      /* and cannot */
    uint64_t symbols, symbols_size; /* a table whose numbers are known; they bar nothing */
};

void patch_ways_init(struct patch_ways *ways, const struct code *code);
void patch_ways_free(struct patch_ways *ways);

/*
 * Redirects what patch_plan left alone for want of bytes, as far as it can: sets reason and fills
 * in plan->redirects. Adds to `barred`.
 */
void patch_redirect(struct patch_plan *plan, struct patch_ways *ways);

/* The function in whose stub the redirected instruction is now, or null: it is where it was. */
const struct function *patch_redirect_displacer(const struct patch_plan *plan,
                                                const struct redirect *redirect);

#endif
