#!/bin/bash
# Static executables, at a fixed address and position-independent, by glibc and musl: the agent is in
# the image itself. Threads, forks, jumps, signals, coroutines and exceptions work as they do in
# dynamic ones.
# needs: g++ musl-tools busybox-static
# seconds: 40
. "$(dirname "$0")/lib.sh"
samples=$TESTS/../samples
sed 's/100000/20000/' "$samples/exceptions.cpp" >exceptions.cpp

for how in -static -static-pie; do
    build fib "$samples/fib.c" $how
    instrumented fib
    recorded fib
    equal "calls of fib" "$(calls_of fib)" 2692537
    equal "calls of exit" "$(calls_of exit)" 1

    instrument --verify instrumented/fib >/dev/null
    instrument --undo instrumented/fib -o undone --overwrite
    cmp undone native/fib

    build threads "$samples/threads.c" $how
    instrumented threads
    recorded threads
    equal "calls of fib" "$(calls_by_part fib | sort -n | paste -sd' ')" "21891 35421 57313 92735"

    build exceptions "$work/exceptions.cpp" $how
    instrumented exceptions
    recorded exceptions
    equal "calls of descend" "$(calls_of descend)" 200000

    build longjmps "$samples/longjmps.c" $how
    instrumented longjmps
    recorded longjmps
    equal "calls of descend" "$(calls_of descend)" 1100000

    build forks forks.c $how
    instrumented forks
    recorded forks
    equal "traces" "$(traces_left)" 5
    equal "calls of fib" "$(calls_of fib)" $((2 * 177 + 2 * 67 + 465))

    for program in spawns thread_ends coroutines signals; do
        build $program $program.c $how -DTHREAD_SIGNALS=1000 # of signals.c
        instrumented $program
        recorded $program
    done
done

# Without names: what reads its return address, such as setjmp, is told by its code.
build longjmps "$samples/longjmps.c" -static -s
instrumented longjmps
recorded longjmps
(($(summed unwound) >= 1100000)) || fail "longjmp ended $(summed unwound) calls only"

# musl does not tell of its end: traces look like those of killed programs.
CC=musl-gcc
build fib "$samples/fib.c" -static
instrumented fib
recorded fib
equal "calls of fib" "$(calls_of fib)" 2692537
build forks forks.c -static
instrumented forks
recorded forks
equal "calls of fib" "$(calls_of fib)" $((2 * 177 + 2 * 67 + 465))
for strip in -g -s; do
    build longjmps "$samples/longjmps.c" -static $strip
    instrumented longjmps
    recorded longjmps
done
# Its compiler has no word for a position-independent static program; the linker has.
musl=/usr/lib/x86_64-linux-musl
build fib "$samples/fib.c" -fPIE -static -nostartfiles -Wl,-pie,--no-dynamic-linker,-z,text \
    $musl/rcrt1.o $musl/crti.o $musl/crtn.o
equal "type of a static-PIE by musl" \
    "$(readelf -hlW native/fib | grep -Eo 'Type: +DYN|INTERP' | tr -s ' ')" "Type: DYN"
instrumented fib
recorded fib
equal "calls of fib" "$(calls_of fib)" 2692537
CC=

# A static Rust program, position-independent.
if command -v rustc >/dev/null; then
    build panics panics.rs -O -C target-feature=+crt-static
    instrumented panics
    recorded panics
fi

# What Debian ships.
cp /bin/busybox native/busybox
instrumented busybox
recorded busybox sha256sum "$BUILD/hooks/libhooks.so"
recorded busybox sort -r /etc/passwd
recorded busybox sh -c 'for i in 1 2 3; do echo $i | cat; done; (exit 3); echo $?'
recorded busybox awk 'BEGIN { for (i = 0; i < 1000; i++) sum += i; print sum }' /dev/null
recorded busybox tar cf - /etc/hosts
