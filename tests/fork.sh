#!/bin/bash
# fork: a child has a trace of its own and returns through the frames its parent entered.
. "$(dirname "$0")/lib.sh"

build forks forks.c
instrumented forks
recorded forks
equal "traces" "$(traces_left)" 5
# fib(10) twice, fib(8) twice, fib(12)
equal "calls of fib" "$(calls_of fib)" $((2 * 177 + 2 * 67 + 465))
equal "calls of fork_below" "$(calls_of fork_below)" 20

recorded forks tree
equal "traces" "$(traces_left)" 40
equal "calls of child_work" "$(calls_of child_work)" 40
equal "calls of tree" "$(calls_of tree)" 40
