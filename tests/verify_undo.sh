#!/bin/bash
# An instrumented image proves that it is its original but for the instrumentation, and gives that
# original back byte for byte. An image in which any byte was changed is refused.
# needs: lua5.4 git python3.11 sqlite3 clang rustc
. "$(dirname "$0")/lib.sh"

flips=${FLIPS:-300} # bytes changed, one at a time
seed=${SEED:-$RANDOM}

round_trip()
{
    local name=$1
    instrumented "$name"
    instrument --verify "instrumented/$name" >said
    equal "lines of --verify" "$(wc -l <said)" 1
    contains said "^instrumented/$name: verified: .* hooked"
    instrument --undo "instrumented/$name" -o undone
    cmp undone "native/$name"
    equal "$name: permissions" "$(stat -c %a undone)" "$(stat -c %a "native/$name")"
    rm undone
}

build fib "$TESTS/../samples/fib.c"
build fixed "$TESTS/../samples/fib.c" -no-pie
build plugin.so plugin.c -shared -fPIC
CXX=clang++ build exceptions exceptions.cpp
build panics panics.rs
# Jumps back to the first instruction are sent to the stub: changes that are no prologues.
cat >loops.S <<'END'
        .globl loops
        .type loops, @function
loops:  sub $1, %rdi
        nop
        nop
        .fill 200, 1, 0x90
        jnz loops
        ret
        .size loops, . - loops
        .section .note.GNU-stack, "", @progbits
END
build loops.so loops.S -shared
for name in lua5.4 git python3.11; do
    cp "/usr/bin/$name" native
done
cp -L /usr/lib/x86_64-linux-gnu/libsqlite3.so.0 native/libsqlite3.so
for name in fib fixed plugin.so exceptions panics loops.so lua5.4 git python3.11 libsqlite3.so; do
    round_trip "$name"
done
# changes_of NAME: how many the manifest tells of, besides functions
changes_of()
{
    instrument --verify "instrumented/$1" | sed -E 's/.* ([0-9]+) other changes;.*/\1/'
}
sed 's/jnz loops/.fill 6, 1, 0x90/' loops.S >straight.S
build straight.so straight.S -shared
round_trip straight.so
equal "changes for a loop" $(($(changes_of loops.so) - $(changes_of straight.so))) 1

refused()
{
    local pattern=$1 status=0
    shift
    instrument "$@" >said 2>error || status=$?
    equal "$*: status" "$status" 1
    equal "$*: lines of error" "$(wc -l <error)" 1
    [[ ! -s said ]] || fail "$*: said on stdout: $(<said)"
    contains error "$pattern"
}

refused 'fib: expected an instrumented image' --verify native/fib
refused 'fib: expected an instrumented image' --undo native/fib -o out
refused 'exists' --undo instrumented/fib -o instrumented/fixed
[[ ! -e out ]] || fail "something was written"

# A byte in code that is not patched: its place is named, with the original's help.
cp instrumented/fib damaged
at=$({ cmp -l native/fib instrumented/fib 2>/dev/null || true; } | awk 'END { print $1 }')
printf '\x55' | dd of=damaged bs=1 seek="$at" conv=notrunc status=none
refused "damaged: changed .* byte 0x$(printf %x "$at") " --verify damaged
refused "damaged: changed .* byte 0x$(printf %x "$at") " --undo damaged -o out
head -c 20000 instrumented/fib >damaged
refused 'damaged: ' --verify damaged

# xorshift, so that a seed says which bytes.
next_random()
{
    random=$((random ^ (random << 13 & 0xffffffff)))
    random=$((random ^ random >> 17))
    random=$((random ^ (random << 5 & 0xffffffff)))
}
random=$((seed + 88172645))
echo "seed $seed: $flips bytes"
size=$(stat -c %s instrumented/fib)
for ((i = 0; i < flips; i++)); do
    next_random
    at=$((random % size))
    next_random
    bit=$((1 << random % 8))
    cp instrumented/fib damaged
    byte=$(od -An -tu1 -j "$at" -N 1 damaged)
    printf "\\x$(printf %x $((byte ^ bit)))" | dd of=damaged bs=1 seek="$at" conv=notrunc status=none
    ! cmp -s damaged instrumented/fib || fail "no byte was changed"
    status=0
    instrument --verify damaged >said 2>error || status=$?
    [[ $status == 1 && $(wc -l <error) == 1 ]] ||
        { cat error; fail "seed $seed: byte $at, bit $bit: status $status"; }
    if instrument --undo damaged -o undone --overwrite 2>/dev/null; then
        cmp undone native/fib || fail "seed $seed: byte $at, bit $bit: undone to something else"
    fi
done
