#!/bin/bash
# Functions that run before main and after it: IFUNC resolvers, preinit functions, constructors.
. "$(dirname "$0")/lib.sh"

for binding in lazy now; do
    build before_main before_main.c -Wl,-z,$binding
    instrumented before_main
    recorded before_main
    equal "calls of answer_plain" "$(calls_of answer_plain)" 2
    equal "calls of construct_early" "$(calls_of construct_early)" 1
    # the constructor's and the destructor's; the preinit function may run before recording begins
    [[ $(calls_of fib) -ge $((177 + 41)) ]] || fail "calls of fib: $(calls_of fib)"
done
