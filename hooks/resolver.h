/*
 * V8 walks its own stack, reads return addresses there and, when it gives up optimised code, writes
 * them. It asks an embedder's function first where each one really lies:
 *
 *      void v8::V8::SetReturnAddressLocationResolver(uintptr_t (*)(uintptr_t location))
 *
 *      |  …            |                                record
 *      |  T            | <- location of V8's    ->      | ret  | <- what ours returns
 *      |  …            |                                | body |
 *
 * On Windows its name is mangled otherwise, and it is looked for in the program itself, as node.exe
 * and Electron export it, and in libnode.dll.
 */
#ifndef UMBRA_HOOKS_RESOLVER_H
#define UMBRA_HOOKS_RESOLVER_H

#include <stdbool.h>

/* Looks for V8 among the images that are loaded, and sets our resolver, generated_true_location, in
   all that export its function. While hooks still pass. True: there is one. */
bool resolver_set(void);

#endif
