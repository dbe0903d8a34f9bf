/*
 * Code that OCaml's compiler made. Its garbage collector finds what lives on the stack by the
 * return addresses there, each of which it looks up in a table: a thunk's is not in it, and the
 * program dies with its first collection.
 *
 * Memory is taken by moving a pointer down to a limit, which no other compiler does in this way:
 * r15 is the pointer, and the limit is the state's, to which r14 points, since OCaml 4.10, a
 * variable before.
 *
 *      sub r15, n                     49 83 ef n
 *      cmp r15, [r14]                 4d 3b 3e             or [r14 + n]     4d 3b 7e n
 *                                     or [rip + n]  4c 3b 3d n n n n        or [rax]  4c 3b 38
 *      jb  to the collector           72 n                 or               0f 82
 *
 * A program that prints a word has this 76 times, ocamlopt 17,157 times. In node, python, libLLVM,
 * rustc and cargo it does not occur.
 */
#ifndef UMBRA_REWRITER_FORMAT_OCAML_CODE_H
#define UMBRA_REWRITER_FORMAT_OCAML_CODE_H

#include <stddef.h>
#include <stdint.h>

#define OCAML_FEWEST 16 /* in an image of OCaml's: a few may turn up by chance */

#define OCAML_FOUND                                                                                \
    "expected code that returns to where it was called from, found an OCaml program, whose "       \
    "garbage collector reads return addresses; use perf"

/* How often memory is taken in that way. */
size_t ocaml_code_count(const uint8_t *bytes, size_t size);

#endif
