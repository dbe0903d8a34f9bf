#!/bin/bash
# Windows programs and libraries of 32 bits do what they did, with an agent that records nothing, however they were
# built. Images verify, and are undone byte for byte; what cannot be instrumented is refused by name. They run where
# $WINE32, or wine32's /usr/lib/wine/wine, runs programs of 32 bits.
# needs: g++-mingw-w64-i686
# seconds: 20
. "$(dirname "$0")/lib.sh"

compiler=i686-w64-mingw32-gcc
programs=$TESTS/programs/windows
AGENT=$work/agent/hooks32.dll
WINE32=${WINE32:-/usr/lib/wine/wine}
export WINEPREFIX=${WINEPREFIX:-$work/wine} WINEDEBUG=-all
unset DISPLAY

mkdir agent
"$compiler" -shared -nostdlib "$TESTS/../rewriter/check/pass_through_windows_i386.S" -o "$AGENT"

"$compiler" "$programs/uses_library.c" -c -o /dev/null
can_run=
if [[ -x ${WINE32%% *} || -x $(command -v "${WINE32%% *}" || true) ]] &&
    timeout -s KILL 120 $WINE32 cmd /c ver >ver 2>/dev/null; then
    can_run=1
else
    echo "skipped: running what is instrumented: no Wine for programs of 32 bits"
fi

instrument()
{
    "$BUILD/rewriter/instrument" --agent="$AGENT" "$@"
}

# hooked NAME [OPTION…]: instrumented/NAME, which verifies and gives native/NAME back
hooked()
{
    local name=$1
    instrument "native/$name" -o "instrumented/$name" --overwrite "${@:2}" >line 2>notes
    equal "lines for $name" "$(wc -l <line)" 1
    instrument --verify "instrumented/$name" >said
    contains said "^instrumented/$name: verified: "
    rm -f undone
    instrument --undo "instrumented/$name" -o undone
    cmp undone "native/$name"
    cmp "instrumented/hooks32.dll" "$AGENT"
}

# ran FOLDER NAME: its output and status in FOLDER.stdout
ran()
{
    local status=0
    (cd "$1" && timeout -s KILL 120 $WINE32 "$2") >"$1.stdout" 2>"$1.stderr" </dev/null || status=$?
    echo "status $status" >>"$1.stdout"
}

# compared NAME LAST: natively and instrumented, whose status is LAST
compared()
{
    hooked "$1"
    [[ $can_run ]] || return 0
    ran native "$1"
    ran instrumented "$1"
    cmp native.stdout instrumented.stdout || fail "$1: other output"
    contains native.stdout "^status $2"
}

# most_hooked NAME: at least 95 % of its functions are, but for what is no function of it
most_hooked()
{
    instrument --list "native/$1" >list
    awk -F '\t' '$3 == "hooked" { hooked++ }
        $3 == "skipped" && $4 != "plt" && $4 != "fragment" && $4 != "unwinder" { left++; why = why " " $5 ":" $4 }
        END { if (hooked / (hooked + left) < 0.95) { print hooked, left, why; exit 1 } }' list ||
        fail "$1: too few functions are hooked"
}

# Each level; at a fixed base, without relocations; stripped, so that calls and pointers tell of functions.
for level in 0 2 s; do
    "$compiler" -O$level "$programs/conventions.c" -o native/conventions.exe
    compared conventions.exe 3
    most_hooked conventions.exe
    grep -q '	hooked	.*	by_callee@12$' list || fail "by_callee is not hooked"
    cp native/conventions.exe moved.exe
    "$compiler" -O$level "$programs/conventions.c" -Wl,--disable-dynamicbase -Wl,--disable-reloc-section \
        -o native/fixed.exe
    compared fixed.exe 3
    for name in moved fixed; do
        cp moved.exe native/moved.exe
        i686-w64-mingw32-strip "native/$name.exe" -o native/bare.exe
        compared bare.exe 3
        most_hooked bare.exe
    done
done

"$compiler" -O2 -shared "$programs/library.c" -o native/library.dll -Wl,--out-implib,library.a
"$compiler" -O2 "$programs/uses_library.c" library.a -o native/uses_library.exe
hooked library.dll
cp native/library.dll native/other.dll
compared uses_library.exe 4

# An overlay stays where it was, and at the end.
{ cat native/bare.exe; echo 'the overlay'; } >native/overlay.exe
compared overlay.exe 3
tail -c 12 instrumented/overlay.exe | cmp - <(echo 'the overlay')

# Words that the loader relocates go along with the code that they are in: none is left in what became a jump. A
# library at the address of its program is moved.
cat >absolute.S <<'EOF'
    .globl _absolute
    .def _absolute; .scl 2; .type 32; .endef
_absolute:
    mov _cell, %eax
    add $1, %eax
    ret
    .globl _calls_slot
    .def _calls_slot; .scl 2; .type 32; .endef
_calls_slot:
    call *__imp__GetCurrentProcessId@0
    test %eax, %eax
    setne %al
    movzbl %al, %eax
    ret
    .data
    .globl _cell
_cell:
    .long 41
EOF
cat >moves.c <<'EOF'
#include <stdio.h>
#include <windows.h>
__declspec(dllimport) int absolute(void);
__declspec(dllimport) int calls_slot(void);
int main(void)
{
    printf("%d %d %d\n", absolute(), calls_slot(),
           (DWORD)GetModuleHandleA("moved.dll") != 0x400000);
    return 5;
}
EOF
"$compiler" -shared absolute.S -Wl,--image-base,0x400000 -Wl,--export-all-symbols -o native/moved.dll \
    -Wl,--out-implib,moved.a
"$compiler" -O2 moves.c moved.a -Wl,--image-base,0x400000 -o native/moves.exe
hooked moved.dll
compared moves.exe 5
[[ ! $can_run ]] || contains native.stdout '^42 1 1'
instrument --list native/moved.dll >list
contains list '	hooked	plain	absolute$'
contains list '	hooked	adjusted	calls_slot$'

# Refused, each by what it is.
# refused NAME PATTERN [OPTION…]
refused()
{
    local status=0
    instrument "native/$1" -o refused.exe "${@:3}" >line 2>&1 || status=$?
    equal "status for $1" "$status" 1
    contains line "$2"
    [[ ! -e refused.exe ]] || fail "$1: an output was left"
}

refused moves.exe 'bodies are copied in ELF files for x86-64 only' --how=copy
refused moves.exe 'expected an ELF file for x86-64' --count=blocks
cp instrumented/moves.exe native/again.exe
refused again.exe 'already instrumented'

# Exceptions of C++ pass recorded calls where libgcc is told of the thunks, and that is a library.
for options in '' -static '-static -s'; do
    # shellcheck disable=SC2086
    i686-w64-mingw32-g++ -O2 $options "$TESTS/../samples/exceptions.cpp" -o native/thrown.exe
    if [[ $options ]]; then
        refused thrown.exe "found those of GNU C\\+\\+ or Rust with a libgcc of the image's own"
    else
        hooked thrown.exe
    fi
done
AGENT=$work/native/library.dll refused moves.exe 'found a library without umbra_enter_13'
if [[ $can_run ]]; then
    ${WINESERVER:-wineserver} -k 2>/dev/null || true
fi
