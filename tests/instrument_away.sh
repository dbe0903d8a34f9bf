#!/bin/bash
# What `instrument` adds can be put anywhere within reach behind an image, as hooks in a process that runs need
# it. Such a file runs and is recorded, and is verified and undone, as any other.
# needs: gcc lua5.4
. "$(dirname "$0")/lib.sh"

instrument=$BUILD/rewriter/instrument
cp "$(readlink -f /usr/bin/lua5.4)" native/lua
"$instrument" native/lua -o instrumented/lua --away=0x40000000 --agent="$AGENT" >said
contains said '[1-9][0-9]* hooked'
"$instrument" --verify instrumented/lua
"$instrument" --undo instrumented/lua -o back
cmp back native/lua || fail "undone, it is not the original"
LC_ALL=C readelf -lW instrumented/lua | awk '$1 == "LOAD" { print $3 }' >places
contains places '0x0*40000000$'
echo 'local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end print(f(15))' >fib.lua
cp fib.lua native
cp fib.lua instrumented
recorded lua fib.lua
balanced
contains summary "$work/native/lua" # the file that a process has mapped, if it is made for one
entries=$(summed entries)
((entries > 1000)) || fail "hardly any call was recorded: $(<summary)"
"$instrument" native/lua -o instrumented/lua --overwrite --how=prologue --agent="$AGENT" >said
recorded lua fib.lua
# There, functions whose bytes give no room for a jump are hooked, too; and Lua does not do quite the same twice.
found=$(summed entries)
((found > entries - entries / 20 && found < entries + entries / 10)) || fail "$entries entries, behind the image $found"

# refused FILE PATTERN OPTION…
refused()
{
    local status=0
    "$instrument" "$1" -o new "${@:3}" >said 2>&1 || status=$?
    ((status != 0)) || fail "not refused: ${*:3}"
    contains said "$2"
    [[ ! -e new ]] || fail "new is there: ${*:3}"
}
refused native/lua 'expected the address of a page' --away=0x40000001
refused native/lua 'expected the address of a page' --away=near
refused native/lua 'is for instrumenting prologues' --away=0x40000000 --count=blocks
refused native/lua 'is for instrumenting prologues' --away=0x40000000 --how=copy
refused native/lua "behind the image's end" --away=0x1000
refused native/lua 'less than 2 GB' --away=0x7f0000000000
