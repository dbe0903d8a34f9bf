/*
 * What a harness shares with whatever feeds it: libFuzzer, or mutate.c where there is none. Each
 * harness is a program of its own, as the rewriter and the grinder share names.
 */
#ifndef UMBRA_TESTS_FUZZ_HARNESS_H
#define UMBRA_TESTS_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as its kind of file. Returns 0; whatever is wrong ends the process by abort. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A new file in memory with that content. */
int memory_file(const uint8_t *data, size_t size);

/* A refusal must be one line, not empty: else it ends the process. */
void check_refusal(const char *text);

#endif
