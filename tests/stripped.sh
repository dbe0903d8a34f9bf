#!/bin/bash
# strip and objcopy may follow: an instrumented image goes on working and recording, with the
# program headers where binutils looks for them and every loaded byte in a section.
# needs: lld lua5.4
. "$(dirname "$0")/lib.sh"

# stripped NAME COMMAND…: runs the command on instrumented/NAME
stripped()
{
    local name=$1
    shift
    "$@" "instrumented/$name" 2>said || { cat said >&2; fail "$*: failed"; }
    [[ ! -s said ]] || { cat said >&2; fail "$*: has something to say"; }
}

for options in -pie -no-pie -fuse-ld=gold -fuse-ld=lld '-fuse-ld=lld -no-pie' \
    -Wl,-z,noseparate-code '-Wl,-z,now -fno-plt' -Wl,--hash-style=sysv; do
    echo "$options"
    # shellcheck disable=SC2086
    build fib "$TESTS/../samples/fib.c" $options
    instrumented fib
    recorded fib
    entries=$(summed entries)
    for command in strip 'strip --strip-debug' 'objcopy --strip-unneeded'; do
        instrumented fib
        # shellcheck disable=SC2086
        stripped fib $command
        recorded fib
        equal "$options, $command: entries" "$(summed entries)" "$entries"
    done
done

# Unwinding finds the stubs' frames where they are now.
build exceptions "$TESTS/../samples/exceptions.cpp"
UMBRA_TEST_HOW=prologue instrumented exceptions # copies do not count what exceptions end
stripped exceptions strip
recorded exceptions
(($(summed unwound) > 0)) || fail "no exception was thrown"

cp /usr/bin/lua5.4 native/lua5.4
instrumented lua5.4
stripped lua5.4 strip
recorded lua5.4 -e 'for i = 1, 3 do print(string.rep("x", i)) end'

# It is no longer what was written, and says so.
if instrument --verify instrumented/lua5.4 2>said; then
    fail "verified though stripped"
fi
contains said 'lua5.4: '
