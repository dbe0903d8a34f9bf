#!/bin/bash
# hooks32.dll in Windows programs of 32 bits, as windows_agent.sh has it for those of 64: exceptions, longjmp, threads,
# ends of all kinds, and how functions of i386 are called. The programs hook themselves (programs/windows/hooked.c).
# needs: wine gcc-mingw-w64-i686
# seconds: 20
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

programs=$TESTS/programs/windows
windows32_tools || exit 0

# compiled NAME SOURCE: native/NAME, and instrumented/NAME, which hooks itself.
compiled()
{
    local compiler=i686-w64-mingw32-gcc-posix
    "$compiler" -fpatchable-function-entry=5 -O2 -g -w -I"$TESTS/programs" -c "$2" -o object.o
    "$compiler" -static object.o -o "native/$1"
    "$compiler" -static object.o hooked.o "$WINDOWS32/hooks/hooks32.dll.a" -o "instrumented/$1"
}

# Lines end as they do here.
normalise()
{
    sed -i 's/\r$//' "$1"
}

# total COLUMN VALUE
total()
{
    equal "$1 of $last" "$(summed "$1")" "$2"
}

# records NAME ARGUMENT…: as recorded of lib.sh. Every thread's counts balance.
records()
{
    last="$*"
    recorded "$@"
}

# Needs nothing but what Windows has, exports the hook alone, and no section is writable code.
dll=$WINDOWS32/hooks/hooks32.dll
i686-w64-mingw32-objdump -p "$dll" >dll
equal "imports" "$(awk '/DLL Name/ { print tolower($3) }' dll | sort | tr '\n' ' ')" \
    "kernel32.dll ntdll.dll ws2_32.dll "
equal "exports" "$(grep -A 9 '^\[Ordinal/Name Pointer\] Table' dll | grep -c '^	\[')" 1
contains dll 'umbra_enter_13'
contains dll 'Name .* hooks32\.dll$'
equal "sections with code" "$(i686-w64-mingw32-objdump -h "$dll" | grep -c 'CODE')" 1
i686-w64-mingw32-objdump -h "$dll" | grep -A 1 ' \.text ' >code
contains code 'READONLY, CODE'
# C code keeps out of the registers that programs pass arguments and results in.
i686-w64-mingw32-objdump -d --no-show-raw-insn "$WINDOWS32"/hooks/hooks32.dll.p/*.c.obj >instructions
! grep -E '%(xmm|mm|st)[0-9(]|\bf(ld|st|add|mul|ild|istp)' instructions || fail "hooks32.dll uses the x87 or vectors"

wine32 || exit 0
wine_begins
cp "$WINDOWS32/hooks/hooks32.dll" instrumented/
i686-w64-mingw32-gcc -O1 -I"$TOP" -I"$programs/i386" -c "$programs/hooked.c" -o hooked.o

# Functions that take their arguments off the stack, and all other ways of a call and its results.
compiled returns.exe "$programs/i386/returns.c"
records returns.exe
contains instrumented.stdout '^last error 1234, first 9\.50$'
total exits "$(summed entries)"
total unwound 0

# 500 rounds on each of five threads, in which 39 frames are left without a return.
compiled chains.exe "$programs/i386/chains.c"
records chains.exe
equal "threads that raised" "$(awk '$4 == 19500 && /holds/' summary | wc -l)" 5

# Libgcc finds its way through the thunks, 500 times; where it is a part of the program, it does not.
shared=i686-w64-mingw32-gcc-win32
"$shared" -fpatchable-function-entry=5 -fexceptions -O2 -g -w -c "$programs/i386/unwound.c" -o object.o
"$shared" -shared-libgcc object.o -o native/unwound.exe
"$shared" -shared-libgcc object.o hooked.o "$WINDOWS32/hooks/hooks32.dll.a" -o instrumented/unwound.exe
for folder in native instrumented; do
    cp "$("$shared" -print-file-name=libgcc_s_dw2-1.dll)" "$folder"
done
records unwound.exe
total unwound 6500

compiled jumps.exe "$programs/jumps.c"
records jumps.exe
equal "threads that jumped" "$(awk '$4 == 1750 && /holds/' summary | wc -l)" 5

compiled tail_calls.exe "$TESTS/programs/tail_calls.c"
records tail_calls.exe
compiled many_threads.exe "$TESTS/programs/many_threads.c"
records many_threads.exe
total skipped 0

compiled fibers.exe "$programs/i386/fibers.c"
records fibers.exe
total skipped 0

# Deeper than thunks reach: the rest is skipped, and the program goes on.
compiled deep.exe "$programs/deep.c"
records deep.exe
(($(summed entries) > 100000)) || fail "deep.exe: $(summed entries) entries"

# Threads that leave from within, or are terminated, have nothing left to return from.
compiled endings.exe "$programs/endings.c"
records endings.exe threads
total live 0
equal "threads" "$(grep -c ' holds' summary)" 302
contains summary 'holds +näme$'
records endings.exe terminated
for how in exit exit-elsewhere terminate; do
    records endings.exe "$how"
    (($(summed live) >= 12)) || fail "$how: $(summed live) live"
done
equal "status of TerminateProcess" "$(<instrumented.status)" 6

# The same with the service of 32 bits.
cp "$WINDOWS32/service/call_trace_service.exe" instrumented/
rm -rf traces
run instrumented call_trace_service.exe start --trace-dir=traces -- chains.exe
equal "status with the service of 32 bits" "$(<instrumented.status)" 0
mv instrumented/traces traces
traces_are_whole
equal "threads that raised" "$(awk '$4 == 19500 && /holds/' summary | wc -l)" 5
