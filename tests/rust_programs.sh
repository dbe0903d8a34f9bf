#!/bin/bash
# Debian's Rust programs: ripgrep searches a large tree on one thread and on four, fd lists it; both
# say what they say natively. Where the disk is full, fd panics, and Rust's start-up code catches it.
# needs: ripgrep fd-find
. "$(dirname "$0")/lib.sh"
UMBRA_TEST_HOW=prologue # copies do not count what a panic ends
tree=(/usr/include /usr/share/doc /usr/lib/python3* /usr/share/perl*)

# On several threads the order of the lines is by chance.
normalise()
{
    sort -o "$1" "$1"
}

cp "$(command -v rg)" native/rg
cp "$(command -v fdfind)" native/fdfind
instrumented rg
instrumented fdfind

recorded rg --sort path -n 'return [a-z]+\(' "${tree[@]}"
(($(wc -l <native.stdout) > 100)) || fail "ripgrep found only $(wc -l <native.stdout) lines"
(($(summed entries) > 100000)) || fail "only $(summed entries) calls of ripgrep were recorded"
recorded rg -j 4 -c '\bthe\b' "${tree[@]}"
recorded rg '(unclosed'
equal "status for a bad expression" "$(<native.status)" 2
recorded fdfind -j 4 . "${tree[@]}"

panic()
{
    recorded bash -c './fdfind --gen-completions bash >/dev/full'
    equal "status of a panic" "$(<native.status)" 101
    contains instrumented.stderr "thread 'main' panicked"
    (($(summed unwound) > 0)) || fail "the panic left no frame"
}
cp "$(command -v bash)" native/bash
cp native/bash instrumented/bash
panic
