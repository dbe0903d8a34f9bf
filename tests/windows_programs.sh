#!/bin/bash
# Windows programs, instrumented, with hooks.dll: exceptions of C++ and structured ones, hardware
# faults, longjmp, fibers, threads, libraries that come and go, the imports of each thread. They do
# what they did, recorded by the native service and by call_trace_service.exe, and every thread's
# counts balance.
# needs: wine wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 clang lld llvm
# seconds: 25
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

programs=$TESTS/programs/windows
compiler=x86_64-w64-mingw32-gcc-posix

# compiled NAME.exe SOURCE… [OPTION…]: native/NAME.exe
compiled()
{
    local name=$1
    shift
    case $1 in
        *.cpp) "${compiler/gcc/g++}" -O2 -g -static "$@" -o "native/$name" ;;
        *seh.c | *prologues.c)
            clang --target=x86_64-w64-windows-gnu -fms-extensions -O1 -c "$1" -o guarded.o
            "$compiler" -static guarded.o "${@:2}" -o "native/$name"
            ;;
        *) "$compiler" -O2 -g -w -static -I"$TESTS/programs" "$@" -o "native/$name" ;;
    esac
}

normalise()
{
    sed -i 's/\r$//' "$1"
}

# everywhere NAME.exe ARGUMENT…: without a service, with the native one, with that for Windows
everywhere()
{
    recorded "$@"
    rm -rf traces
    run instrumented "$work/call_trace_service.exe" start --trace-dir="$(windows_path traces)" -- "$@"
    compare_runs "$* under call_trace_service.exe"
    balanced
}

# callers_of FUNCTION: a line for each thread and caller of it, with its calls
callers_of()
{
    grinder --mode=profile --output-format=tsv-edges --output-file=edges traces/*.bin
    awk -F '\t' -v wanted="$1" '$6 == wanted { print $4, $10 }' edges
}

windows_tools
wine_begins
cp "$WINDOWS/service/call_trace_service.exe" .
AGENT=$WINDOWS/hooks/hooks.dll

# Under Wine a recorded throw takes many times as long as one that is not.
compiled exceptions.exe "$TESTS/programs/exceptions.cpp" -DROUNDS=100
instrumented exceptions.exe
everywhere exceptions.exe
(($(summed unwound) > 0)) || fail "no exception unwound a frame"

compiled thrown.exe "$programs/thrown.cpp"
instrumented thrown.exe
everywhere thrown.exe

compiled seh.exe "$programs/seh.c"
instrumented seh.exe
everywhere seh.exe
# Each filter that was asked handled it or passed it on, says the program.
equal "calls of a filter" "$(calls_of judge)" \
    "$(awk '/handled/ { sum += $(NF - 7) + $NF } END { print sum }' FS='[ ,]+' native.stdout)"

# The faults are in instructions that were moved into stubs.
compiled prologues.exe "$programs/prologues.c" "$programs/prologues.S"
instrumented prologues.exe
everywhere prologues.exe
contains native.stdout '^3: 4326 5321$'
for name in load_{first,pushed,pushed_twice,allocated}; do
    equal "$name" "$(state_of $name prologues.exe)" "hooked plain"
    equal "calls of $name" "$(calls_of $name)" 102
done
equal "prologues left by a fault" "$(summed unwound)" $((4 * 51))

compiled jumps.exe "$programs/jumps.c"
instrumented jumps.exe
everywhere jumps.exe
(($(summed unwound) > 0)) || fail "no jump unwound a frame"

compiled fibers.exe "$programs/fibers.cpp"
instrumented fibers.exe
everywhere fibers.exe

compiled tail_calls.exe "$TESTS/programs/tail_calls.c"
instrumented tail_calls.exe
everywhere tail_calls.exe
equal "calls that are jumps" "$(calls_of even) $(calls_of odd)" "502602 502650"

compiled library.dll "$programs/library.c" -shared -Wl,--out-implib,library.a
compiled plugins.exe "$programs/plugins.c"
instrumented library.dll
instrumented plugins.exe
everywhere plugins.exe
equal "calls of a library's function" "$(calls_of counted)" 170
equal "calls of its leaf" "$(calls_of leaf)" 170

# Which thread reads and which one writes; a thunk that mingw makes leads to a delayed import.
printf 'LIBRARY library.dll\nEXPORTS\n    leaf\n    counted\n' >library.def
x86_64-w64-mingw32-dlltool -d library.def -y delayed.a
compiled reads.exe "$programs/reads.c" delayed.a
instrumented reads.exe --instrument-imports
everywhere reads.exe
equal "calls of WriteFile" "$(callers_of 'KERNEL32.dll!WriteFile')" "write_once 30"
equal "calls of ReadFile" "$(callers_of 'KERNEL32.dll!ReadFile')" "read_once 70"
equal "calls of CreateFileW, by thread" "$(calls_by_part 'KERNEL32.dll!CreateFileW' | xargs)" "1 1"

# The same by clang and lld without a C library; names are those of its PDB.
printf 'LIBRARY kernel32.dll\nEXPORTS\n' >kernel32.def
printf '    %s\n' LoadLibraryA GetProcAddress GetStdHandle WriteFile CreateThread WaitForSingleObject \
    ExitProcess >>kernel32.def
for library in kernel32 library; do
    llvm-dlltool -m i386:x86-64 -d "$library.def" -l "$library.lib"
done
clang --target=x86_64-pc-windows-msvc -O1 -g -gcodeview -c "$programs/delayed.c" -o delayed.obj
lld-link /debug /nodefaultlib /entry:start /subsystem:console /delayload:library.dll \
    delayed.obj kernel32.lib library.lib /out:native/delayed.exe
instrumented delayed.exe --instrument-imports
everywhere delayed.exe
# Two of its functions have no frames and are not in .pdata: one is called, one exported.
equal "frames described" "$(x86_64-w64-mingw32-objdump -p native/delayed.exe |
    grep -Ec '^ [0-9a-f]{16}:.[0-9a-f]{16} [0-9a-f]{16} ')" 6
equal "calls of leaves without a frame" "$(calls_of half) $(calls_of twice)" "7 9"
equal "a delayed import's calls, by thread" "$(calls_by_part 'library.dll!leaf' | xargs)" "20 40"
