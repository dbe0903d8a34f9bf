/* The instructions of what is copied, as far as it matters where they lead. */
#ifndef UMBRA_REWRITER_COPY_JUMPS_H
#define UMBRA_REWRITER_COPY_JUMPS_H

#include "rewriter/code/code.h"
#include "rewriter/code/decode.h"
#include "rewriter/functions/function_list.h"

/* Reads what is at at->address, of `room` bytes: its length, flow and target, and the opcode of what branches. What
   jumps over a lock prefix goes on. False if it is no instruction. */
bool copy_read_next(const ZydisDecoder *decoder, const uint8_t *bytes, size_t room,
                    struct instruction *at);

bool copy_is_direct_jump(const struct instruction *at);

/* Tells of where each direct jump of a function leads. */
void copy_jumps_each(const struct code *code, const struct function *function,
                     void (*visit)(void *user, uint64_t target), void *user);

#endif
