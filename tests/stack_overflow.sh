#!/bin/bash
# A handler on an alternate stack jumps out of a recursion that ran off its stack.
. "$(dirname "$0")/lib.sh"

build stack_overflow stack_overflow.c
instrumented stack_overflow
recorded stack_overflow
# where the stack ends inside a hook, the handler is not recorded but counted
equal "calls of rescue_from" $(($(calls_of rescue_from) + $(summed skipped))) 20
