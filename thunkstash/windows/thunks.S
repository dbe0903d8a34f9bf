/* The constant block of thunks. It is mapped from the agent's file, where the linker script has put
   it at a multiple of 64 KiB; the copy that is loaded with the image is never run. */
#include "thunkstash/thunk_code.h"

    .section .text.thunks, "x"
    .globl  umbra_thunk_code
umbra_thunk_code:
    thunk_code
