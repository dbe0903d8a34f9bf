#!/bin/bash
# Functions that run before main and after it: IFUNC resolvers, preinit functions, constructors.
. "$(dirname "$0")/lib.sh"

for binding in lazy now; do
    build before_main before_main.c -Wl,-z,$binding
    instrumented before_main
    recorded before_main
    equal "calls of answer_plain" "$(calls_of answer_plain)" 2
    equal "calls of construct_early" "$(calls_of construct_early)" 1
    equal "calls of at_preinit" "$(calls_of at_preinit)" 1
    equal "calls of fib" "$(calls_of fib)" $((15 + 177 + 41))
done
