#!/bin/bash
# Code that a Windows program's own code generator made, as V8's builtins are, is not hooked, nor is
# the padding before it, in which its entries of .pdata begin. What it calls, and what code made at
# run time calls, keeps its return address. All below that is recorded. If the program can be told
# where return addresses lie, as V8 can, all is recorded.
# needs: wine wine64 gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

programs=$TESTS/programs
normalise()
{
    sed -i 's/\r$//' "$1"
}

windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc -O2 -g -I"$programs" "$programs/generated.c" "$programs/windows/generated.S" \
    -o native/generated.exe
instrumented generated.exe 2>notes
equal "functions left alone" "$(instrument --list instrumented/generated.exe | grep -c 'generated	')" 12
instrument --verify instrumented/generated.exe >verified
recorded generated.exe
equal "output" "$(<native.stdout)" 4000
equal "calls of callee" "$(calls_of callee)" 0
equal "calls of below" "$(calls_of below)" 2000
equal "calls that passed" "$(summed skipped)" 2000

printf 'EXPORTS\n"?SetReturnAddressLocationResolver@V8@v8@@SAXP6A_K_K@Z@Z"=set_resolver\n' >resolver.def
x86_64-w64-mingw32-gcc -O2 -g -DRESOLVER -I"$programs" "$programs/generated.c" \
    "$programs/windows/generated.S" resolver.def -o native/generated.exe
instrumented generated.exe
recorded generated.exe
equal "output" "$(<native.stdout)" 4000
equal "calls of callee, told" "$(calls_of callee)" 2000
equal "calls of below, told" "$(calls_of below)" 2000
equal "calls that passed, told" "$(summed skipped)" 0
