#!/bin/bash
# Every way to link a program: fixed address, position-independent, bound lazily or at once,
# stripped, with branch protection, with old and new hash tables, by gold and lld; by clang and by
# rustc.
# needs: clang lld rustc binutils
. "$(dirname "$0")/lib.sh"

comparisons=0
check()
{
    echo "$CC $*"
    build conventions conventions.c -Wno-psabi "$@"
    instrumented conventions
    recorded conventions
    comparisons=$(awk '/comparisons/ { print $1 }' native.stdout)
    equal "$CC $*: calls of compare" "$(calls_of compare)" "$comparisons"
}

for CC in gcc clang; do
    check -fPIE -pie
    check -fno-PIE -no-pie
    check -Wl,-z,now -Wl,-z,relro
    check -Wl,-z,lazy -Wl,-z,norelro
    check -fcf-protection=full
    check -fno-plt
    check -Wl,--hash-style=sysv -Wl,--build-id=none
    check -Wl,-z,noseparate-code
    check -fuse-ld=gold
    check -fuse-ld=lld
    check -fuse-ld=lld -no-pie -fno-PIE
done

# Without symbols, functions are found by their unwind information and have addresses for names.
for CC in gcc clang; do
    for pie in -pie -no-pie; do
        build conventions conventions.c -Wno-psabi $pie
        address=$(nm native/conventions | awk '$3 == "compare" { print $1 }')
        strip native/conventions
        instrumented conventions
        recorded conventions
        linked=$(printf '0x%x' $((0x$address)))
        equal "$CC $pie stripped: calls" "$(calls_of "conventions!$linked")" "$comparisons"
    done
done
