/*
 * Callers in code that was made at run time. It is not instrumented, so it has no contexts, but
 * what it calls has call sites in it. Where a map (jit_map.h) knows such a site, a context for the
 * code there is put between caller and callee:
 *
 *      Invoke (C++)                      Invoke                    JavaScript's own time remains
 *       |            site             ->  |                        in Invoke's self time
 *       +-- ReadFile 7f5298.. in rounds   +-- JS:~rounds           calls 0, self 0
 *       +-- Throw    7f5298.. in rounds   |    +-- ReadFile
 *       +-- Throw    3f1ac0.. in fails    |    +-- Throw
 *                                         +-- JS:~fails
 *                                              +-- Throw
 *
 * So all sums remain what they are. Nobody counted how often the code itself was called: an edge to
 * it says how many calls were made from it. Only the nearest such function of a call is there, not
 * the ones that called it.
 */
#ifndef UMBRA_GRINDER_JIT_CALLERS_H
#define UMBRA_GRINDER_JIT_CALLERS_H

#include "grinder/profile/images.h"
#include "grinder/profile/tree.h"

/* Adds contexts, functions and, behind the tree's modules, their code. */
void jit_callers_add(struct tree *tree, struct images *images);

#endif
