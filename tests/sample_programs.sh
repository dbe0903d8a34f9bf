#!/bin/bash
# The samples' figures: fib(30) takes 2,692,537 calls; four threads are four parts with the right
# counts and names; exceptions and longjmps are all accounted for.
# needs: g++
. "$(dirname "$0")/lib.sh"
samples=$TESTS/../samples

build fib "$samples/fib.c"
instrumented fib
recorded fib
equal "calls of fib" "$(calls_of fib)" 2692537

build threads "$samples/threads.c"
instrumented threads
recorded threads
# fib(20) … fib(23), each 2 fib(n + 1) - 1 calls
equal "calls of fib" "$(calls_by_part fib | sort -n | paste -sd' ')" "21891 35421 57313 92735"
for n in 20 21 22 23; do
    contains callgrind "fib-$n"
done

build exceptions "$samples/exceptions.cpp"
UMBRA_TEST_HOW=prologue instrumented exceptions # copies do not count what exceptions end
recorded exceptions
equal "calls of descend" "$(calls_of descend)" 1000000
equal "calls that an exception ended" "$(summed unwound)" 1000000

build longjmps "$samples/longjmps.c"
instrumented longjmps
recorded longjmps
equal "calls of descend" "$(calls_of descend)" 1100000
# copies do not see the ends of calls
by_copies || equal "calls that a longjmp ended" "$(summed unwound)" 1100000
