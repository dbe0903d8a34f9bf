#!/bin/bash
# hooks.dll in Windows programs: exceptions of C++ and structured ones, hardware faults, longjmp,
# threads, fibers, and ends of all kinds. The programs hook themselves (programs/windows/hooked.c).
# needs: wine wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 clang
# seconds: 30
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

programs=$TESTS/programs/windows
entry=-fpatchable-function-entry=5

# compiled NAME SOURCE [OPTION…]: native/NAME, and instrumented/NAME, which hooks itself.
compiled()
{
    local name=$1 source=$2 compiler=x86_64-w64-mingw32-gcc-posix
    shift 2
    case $source in
        *.cpp) compiler=x86_64-w64-mingw32-g++-posix ;;
    esac
    case $name in
        seh.exe | sampler.exe) clang --target=x86_64-w64-windows-gnu -fms-extensions $entry -O1 -c "$source" -o object.o ;;
        *) "$compiler" $entry -O2 -g -w -c "$source" -o object.o "$@" ;;
    esac
    "$compiler" -static object.o -o "native/$name"
    "$compiler" -static object.o hooked.o "$WINDOWS/hooks/hooks.dll.a" -o "instrumented/$name"
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

windows_tools
wine_begins
cp "$WINDOWS/hooks/hooks.dll" instrumented/
x86_64-w64-mingw32-gcc -O1 -I"$TOP" -I"$programs/x86_64" -c "$programs/hooked.c" -o hooked.o

# Needs nothing but what Windows has, exports the hook alone, and no section is writable code.
dll=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-objdump -p "$dll" >dll
equal "imports" "$(awk '/DLL Name/ { print tolower($3) }' dll | sort | tr '\n' ' ')" \
    "kernel32.dll ntdll.dll ws2_32.dll "
contains dll 'umbra_enter_13'
equal "sections with code" "$(x86_64-w64-mingw32-objdump -h "$dll" | grep -c 'CODE')" 1
x86_64-w64-mingw32-objdump -h "$dll" | grep -A 1 ' \.text ' >code
contains code 'READONLY, CODE'

# Each of its functions in C has an entry in .pdata, which is three relocations: whoever stops a thread in it
# walks the stack.
for object in "$WINDOWS"/hooks/hooks.dll.p/*.c.obj; do
    functions=$(x86_64-w64-mingw32-nm "$object" | awk 'NF == 3 && $2 ~ /[tT]/ && $3 !~ /^\./' | wc -l)
    entries=$(x86_64-w64-mingw32-objdump -r "$object" |
        awk '/^RELOCATION RECORDS/ { of = $4 } of ~ /pdata/ && /ADDR32NB/' | wc -l)
    equal "entries of $(basename "$object")" "$((entries / 3))" "$functions"
done

# Rounds, frames and throws as in exceptions.sh.
compiled exceptions.exe "$TESTS/programs/exceptions.cpp"
records exceptions.exe
contains summary '^ +5 .* holds'

# 500 rounds on each of five threads, in which 16 frames are left without a return.
compiled seh.exe "$programs/seh.c"
records seh.exe
equal "threads that raised" "$(awk '$4 == 8000 && /holds/' summary | wc -l)" 5
contains instrumented.stdout '^last error 1234$'
contains instrumented.stdout '^sum .*, last error 4321$'

# The thread is stopped at any instruction, those of the hooks and the thunks included.
compiled sampler.exe "$programs/sampler.c"
records sampler.exe
contains instrumented.stdout '^2000 of 2000 walks arrive$'

compiled jumps.exe "$programs/jumps.c"
records jumps.exe
# 750 of 1,000 jumps leave from one frame that gcc made of ten, and one that called it; 1,000 leave
# from qsort's callback. All of them on five threads.
equal "threads that jumped" "$(awk '$4 == 1750 && /holds/' summary | wc -l)" 5

compiled fibers.exe "$programs/fibers.cpp"
records fibers.exe
contains instrumented.stdout '^went on on another thread: .* done 20$'

compiled deep.exe "$programs/deep.c"
records deep.exe
# its stack: 300,001 calls of descend and start, and bytes that add up to the peak
grinder --mode=stack traces/*.bin 2>problems | awk -F '\t' 'NR > 1 && $2 != first {
        if (!first) { first = $2; next }
        calls += $11; sum += $13; peak = $4; stack = $5 }
    END { print calls, sum == peak, (peak > 300000 * 16 && peak < stack), stack / 1048576 }' >peak
equal "the stack of deep" "$(<peak)" "300002 1 1 256"
total entries 600005
total skipped 0

compiled tail_calls.exe "$TESTS/programs/tail_calls.c" -I"$TESTS/programs"
records tail_calls.exe

compiled many_threads.exe "$TESTS/programs/many_threads.c" -I"$TESTS/programs"
records many_threads.exe
total skipped 0

# Threads that leave from within, or are terminated, have nothing left to return from.
compiled endings.exe "$programs/endings.c"
records endings.exe threads
total live 0
equal "threads" "$(grep -c ' holds' summary)" 302
contains summary 'holds +näme$'
records endings.exe terminated
equal "threads" "$(grep -c ' holds' summary)" 101

# However the process ends, what was recorded is there, and says how far the others were.
for how in exit exit-elsewhere terminate; do
    records endings.exe "$how"
    (($(summed live) >= 12)) || fail "$how: $(summed live) live"
done
contains summary 'ended without exit'
equal "status of TerminateProcess" "$(<instrumented.status)" 6

# What calls cost is measured at the end, too, while the others were at anything. The program has
# taken out what was measured at the beginning.
compiled calibrated.exe "$programs/calibrated.c" -I"$TOP"
rm -rf traces
run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- \
    wine calibrated.exe
equal "status of calibrated.exe" "$(<instrumented.status)" 0
normalise instrumented.stdout
at=$(sed -n 's/^probe_timed at \([0-9]*\), a trace: 1$/\1/p' instrumented.stdout)
[[ $at ]] || fail "calibrated.exe did not find its trace: $(<instrumented.stdout)"
timed=$(od -An -tu4 -j "$at" -N 4 traces/*.bin)
((timed > 0)) || fail "nothing was calibrated at the end"
balanced

# Without a service, one that is required is missed; with one it is not.
cd instrumented
status=0
UMBRA_REQUIRED=1 wine jumps.exe >../required.out 2>../required.err || status=$?
cd ..
equal "status without a service" "$status" 1
equal "output without a service" "$(<required.out)" ""
contains required.err '^umbra: UMBRA_REQUIRED=1, but no call_trace_service answers'
same jumps.exe
UMBRA_REQUIRED=1 record jumps.exe
