#!/bin/bash
# Code that a program's own code generator made, as V8's builtins are, is not hooked; what it calls,
# and what code made at run time calls, keeps its return address. All below that is recorded. If the
# program can be told where return addresses lie, as V8 can, all is recorded.
. "$(dirname "$0")/lib.sh"

build generated generated.c generated_amd64.S
instrumented generated
equal "functions left alone" "$(instrument --list instrumented/generated | grep -c 'generated	')" 2
instrument --verify instrumented/generated >verified
recorded generated
equal "output" "$(<native.stdout)" 4000
equal "calls of callee" "$(calls_of callee)" 0
equal "calls of below" "$(calls_of below)" 2000
equal "calls that passed" "$(summed skipped)" 2000

build generated generated.c generated_amd64.S -O2 -g -rdynamic -DRESOLVER
instrumented generated
recorded generated
equal "output" "$(<native.stdout)" 4000
equal "calls of callee, told" "$(calls_of callee)" 2000
equal "calls of below, told" "$(calls_of below)" 2000
equal "calls that passed, told" "$(summed skipped)" 0
