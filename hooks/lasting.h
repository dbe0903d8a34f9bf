/*
 * Images that stay where they are until the process ends: the program itself, and what it needs (DT_NEEDED), what
 * that needs, and so on. Nothing can unload these. Others may go, by dlclose, and another image may lie
 * in their place afterwards: who goes there asks first what is there.
 */
#ifndef UMBRA_HOOKS_LASTING_H
#define UMBRA_HOOKS_LASTING_H

#include <stdbool.h>
#include <stdint.h>

/* Finds them, once, while hooks still pass. */
void lasting_images_find(void);

/* Whether an address is in one. False also where that is not known. */
bool lasting_image_has(uint64_t address);

#endif
