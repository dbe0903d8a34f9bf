#!/bin/bash
# Functions whose symbols have no type, as assemblers write them, are found and have their names; data
# among the code, and labels within functions, stay as they are.
# needs: wine wine64 gcc-mingw-w64-x86-64 binutils-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

programs=$TESTS/programs/windows
windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc -O2 "$programs/labels.c" "$programs/labels.S" -o native/labels.exe
for name in pointed apart inner; do
    x86_64-w64-mingw32-objdump -t native/labels.exe | grep " $name\$" >symbol
    contains symbol '\(ty +0\)'
done
instrumented labels.exe 2>notes
for name in pointed apart inner; do
    [[ $(state_of $name labels.exe) == hooked* ]] || fail "$name: $(state_of $name labels.exe)"
done
for name in constants behind even odd; do
    equal "$name" "$(state_of $name labels.exe)" ''
done
recorded labels.exe
equal "calls" "$(calls_of pointed) $(calls_of inner) $(calls_of apart)" '100 100 100'
