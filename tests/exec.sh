#!/bin/bash
# vfork, posix_spawn, system and exec: each program has its trace, and a process that replaces
# itself has two.
. "$(dirname "$0")/lib.sh"

build spawns spawns.c
instrumented spawns
recorded spawns
equal "traces" "$(traces_left)" 5
equal "processes" "$(cd traces && printf '%s\n' *.bin | cut -d- -f2 | sort -u | wc -l)" 4
# three leaves of fib(10), fib(12), fib(15)
equal "calls of fib" "$(calls_of fib)" $((3 * 177 + 465 + 1973))
equal "calls of replace" "$(calls_of replace)" 3
