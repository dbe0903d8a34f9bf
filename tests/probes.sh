#!/bin/bash
# A debugger stops at probes (USDT) of instrumented images as at the native ones': at a program's own, and
# at libstdc++'s, by which gdb catches exceptions.
# needs: gdb g++
. "$(dirname "$0")/lib.sh"

# stops FOLDER CATCH PROGRAM: how often gdb stops there, and where
stops()
{
    printf '%s\n' 'set debuginfod enabled off' 'set breakpoint pending on' "$2" 'commands' silent 'bt 1' continue \
        end run >gdb.commands
    (cd "$1" && gdb -nx -batch -x "$work/gdb.commands" "./$3") >gdb.out 2>gdb.err </dev/null
    sed -nE 's/^#([0-9]) +0x[0-9a-f]+ in ([a-z_]+) .*/\1 \2/p; s/^#([0-9]) +([a-z_]+) \(.*/\1 \2/p; /exited/p' gdb.out |
        sed -E 's/process [0-9]+/process/'
}

# same_stops CATCH PROGRAM TIMES
same_stops()
{
    local how
    stops native "$1" "$2" >expected
    equal "times that gdb stops natively: $1" "$(grep -c '^0 ' expected)" "$3"
    for how in prologue copy; do
        instrumented "$2" --how=$how
        [[ ! -e native/libstdc++.so.6 ]] || instrumented libstdc++.so.6 --how=$how
        stops instrumented "$1" "$2" >found
        diff expected found || { cat gdb.out gdb.err; fail "$1, $how: gdb stops elsewhere (>)"; }
        recorded "$2"
    done
}

build probed probed.c probed_amd64.S
same_stops 'break -probe-stap umbra_test:late' probed 3
same_stops 'break -probe-stap umbra_test:early' probed 3
for function in probed_late probed_early; do
    equal "$function" "$(instrument --list instrumented/probed |
        awk -F '\t' -v name=$function '$5 == name { print $4 }')" copied
done

echo '-- the notes lead to the copies, and back'
readelf --notes native/probed | grep -c Location >count
equal "notes" "$(readelf --notes instrumented/probed | grep -c Location)" "$(<count)"
readelf --notes native/probed | grep Location | sort >native.notes
readelf --notes instrumented/probed | grep Location | sort >instrumented.notes
equal "notes of originals" "$(comm -12 native.notes instrumented.notes | wc -l)" 0
instrument --verify instrumented/probed
instrument --undo instrumented/probed -o undone
cmp undone native/probed || fail "undone, it is not the original"

cat >throws.cpp <<'END'
#include <cstdio>
int main()
{
    for (int i = 0; i < 3; i++)
        try {
            throw i;
        } catch (int n) {
            std::printf("%d\n", n);
        }
}
END
CXX='g++ -Wl,-rpath,.' build throws "$work/throws.cpp"
cp -L "$(g++ -print-file-name=libstdc++.so.6)" native/
same_stops 'catch throw' throws 3
same_stops 'catch catch' throws 3
