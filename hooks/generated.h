/*
 * Calls from code that a code generator made, in the image (rewriter/elf/code/elf_generated.h) or
 * at run time. The generator walks stacks by return addresses. If it was not told how to find the
 * true ones (resolver.h), such calls pass through unrecorded. Other calls pay nothing for the
 * check: a call that passes gets no context, so it comes to the slow path each time, where the
 * check is.
 *
 * If the generator was told, such calls are recorded. JavaScript calls C++ through a few builtins,
 * so the return address is the same whichever function makes the call. Their call site is therefore
 * where the nearest JavaScript function made the call that led here. It differs from the return
 * address, so these calls find their context in the slow path, each time anew. V8's frames on the
 * way, which are linked by rbp:
 *
 *      |  return address  |  in a JavaScript function: the call site
 *      |  rbp ------------+-->  |  return address |  in its caller
 *      |  kind * 2        |     |  rbp            |
 *      |  …               |     |  context + 1    |  odd: a pointer to an object, so this frame
 *      |  return address  | <- slot                   is a function's and not a builtin's
 *
 * Frames of WebAssembly say what kind they are, too, and are passed over.
 *
 * Mono cannot be told. It reads the return address below its frames where its code called C. Calls
 * from that code pass, also from modules that it compiled ahead of time: *.dll.so, *.exe.so.
 *
 * HotSpot cannot be told. It reads the return address below its frames where its code called a part
 * of HotSpot: calls into libjvm.so pass. Before it calls a native method it stores the place itself
 * (JavaFrameAnchor, with a pc) and needs no return address. So native methods are recorded.
 * That call is made by code for the one method, with a frame linked by rbp. Compiled methods above
 * may use rbp for something else, so the site is where that code was called, and no further up:
 *
 *      |  return address  |  in Java: the call site
 *      |  rbp             |
 *      |  …               |
 *      |  return address  | <- slot, in the native method's wrapper or in the interpreter
 */
#ifndef UMBRA_HOOKS_GENERATED_H
#define UMBRA_HOOKS_GENERATED_H

#include <stdbool.h>

#include "hooks/thread.h"
#include "trace/image_manifest.h"

/* An image is registered. Under the guard. */
void generated_note(const struct image_header *image);

/* The code generator finds true return addresses. While hooks still pass. */
void generated_is_resolved(void);

/* Where a return address lies whose place on the stack is `location`: there, or in the record of
   the thunk that has it. */
uint64_t generated_true_location(uint64_t location);

/* Notes any file that is mapped for execution. */
void generated_note_module(const char *path, uint64_t base, uint64_t size);

/* Puts the call site in place of the return address in *site, if that is in such code. frame: rbp
   at the function's entry, image: the function's; its stub may be anywhere (IMAGE_IS_AWAY). False:
   the call has to pass. Without the guard. */
bool generated_site(const struct thread *thread, const uintptr_t *slot, uint64_t frame,
                    const struct image_header *image, uint64_t *site);

#endif
