#!/bin/bash
# What the README says of Windows: hooks.dll is installed where instrument finds it, or found in a
# build tree; three files go to the other machine, the traces come back and are ground with the
# names of the program.
# needs: wine wine64 gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

windows_tools
wine_begins
x86_64-w64-mingw32-gcc -O2 -g "$TESTS/../samples/fib.c" -o native/fib.exe

# Alone, instrument says what is missing.
mkdir -p bin
cp "$BUILD/rewriter/instrument" bin
status=0
bin/instrument native/fib.exe -o instrumented/fib.exe 2>line || status=$?
equal "status without hooks.dll" "$status" 1
equal "lines without hooks.dll" "$(wc -l <line)" 1
contains line '^instrument: hooks.dll: expected the agent where this tool is installed, found none; .*--agent=PATH$'
[[ ! -e instrumented/fib.exe ]] || fail "an output was left"

# In a build tree, and installed.
"$BUILD/rewriter/instrument" native/fib.exe -o instrumented/fib.exe >line 2>notes
cmp instrumented/hooks.dll "$WINDOWS/hooks/hooks.dll"
meson install -C "$WINDOWS" --destdir "$work/root" >install.log 2>&1 || { tail install.log >&2; fail "meson install"; }
prefix=$(dirname "$(dirname "$(find root -name call_trace_service.exe)")")
mkdir elsewhere
cp bin/instrument "$prefix/bin"
"$prefix/bin/instrument" native/fib.exe -o elsewhere/fib.exe >line 2>notes
cmp elsewhere/hooks.dll "$(find root -name hooks.dll)"
contains notes '^instrument: hooks.dll, the agent, was put beside the output, which loads it$'

# Another machine: what was installed here is not there.
there=$WINEPREFIX/drive_c/app
mkdir "$there"
cp elsewhere/fib.exe elsewhere/hooks.dll "$prefix/bin/call_trace_service.exe" "$there"
run native fib.exe
(cd "$there" && timeout 120 wine call_trace_service.exe start --trace-dir=traces -- fib.exe) >there.stdout
cmp there.stdout native.stdout

# And back.
mv "$there/traces" .
rm -rf "$there"
grinder --mode=profile --output-file=callgrind --path-map="C:\\app=$work/elsewhere" traces/*.bin
equal "calls of fib" "$(calls_of fib)" 2692537
