/*
 * What a file is to the front, by its first bytes:
 *
 *      7f 'E' 'L' 'F'   64 bit, x86-64, ET_EXEC or ET_DYN     to be instrumented
 *      7f 'E' 'L' 'F'   32 bit, i386, ET_EXEC or ET_DYN       too, if there is an agent for it (front/base/tools.h)
 *      '#' '!' …        a script: the kernel executes the file named there, with one argument
 *      7f 'E' 'L' 'F'   else                                  a program for another processor
 *      anything else                                          none of ours
 */
#ifndef UMBRA_FRONT_IMAGE_KIND_H
#define UMBRA_FRONT_IMAGE_KIND_H

#include "front/base/tools.h"

#define SCRIPT_LINE_SIZE 256 /* what the kernel reads of a script, BINPRM_BUF_SIZE */

enum image_kind {
    IMAGE_KIND_OTHER,
    IMAGE_KIND_ELF,
    IMAGE_KIND_SCRIPT,
    IMAGE_KIND_FOREIGN,
};

struct image_look {
    enum image_kind kind;
    enum processor processor;           /* of one that is to be instrumented; else the first */
    char interpreter[SCRIPT_LINE_SIZE]; /* of a script */
    char argument[SCRIPT_LINE_SIZE];    /* what stands behind it in its line; "" if nothing does */
    const char *why;                    /* of a foreign program: what it is */
};

/* Looks at an open file. */
void image_look_at(struct image_look *look, int file);

/* Looks at what a descriptor opened with O_PATH stands for. Returns false if that cannot be read.
   */
int image_look_at_path(struct image_look *look, int name);

#endif
