#!/bin/bash
# A thousand threads that live for a moment: each has its part and its name.
. "$(dirname "$0")/lib.sh"

build many_threads many_threads.c
instrumented many_threads
recorded many_threads
# fib(5) … fib(9), two hundred times each
equal "calls of fib" "$(calls_of fib)" $((200 * (15 + 25 + 41 + 67 + 109)))
equal "threads" "$(calls_by_part fib | wc -l)" 1000
equal "names" "$(grep -oE 'worker-[0-9]+' callgrind | sort -u | wc -l)" 1000
