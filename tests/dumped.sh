#!/bin/bash
# A program that was dumped with its heap runs as it is, and it is said why: segments of ours would lie
# where its heap grows. tests/long/maxima.sh has such a program of Debian's.
. "$(dirname "$0")/lib.sh"

gcc -O2 -no-pie "$TESTS/programs/dumped.c" -o linked
objcopy --set-section-flags .bss=alloc,load,contents,data linked dumped
equal natively "$(./dumped)" grown

if instrument dumped -o instrumented/dumped 2>error; then
    fail "it was instrumented"
fi
contains error 'dumped: .*found a program that was dumped with its heap'
XDG_CACHE_HOME=$work/cache umbra record --quiet -- ./dumped >recorded.out
equal recorded "$(<recorded.out)" grown
umbra ls --left umbra.data >left 2>&1
contains left 'dumped: .*found a program that was dumped with its heap'

# with memory that is not in the file, it is a program as others are
instrument linked -o instrumented/linked >/dev/null
