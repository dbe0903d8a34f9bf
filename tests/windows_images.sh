#!/bin/bash
# Instrumented Windows programs and libraries do what they did, with an agent that records nothing:
# exceptions, handlers, imports, exports. Every instruction of a moved prologue unwinds. Images keep
# what is behind their sections; they verify, and are undone byte for byte. What cannot be
# instrumented is refused by name.
# needs: wine wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 clang
# seconds: 15
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

compiler=x86_64-w64-mingw32-gcc
programs=$TESTS/programs/windows
AGENT=$work/agent/hooks.dll

mkdir agent
"$compiler" -shared -nostdlib -e DllMainCRTStartup "$TESTS/../rewriter/check/pass_through_windows.S" \
    -o "$AGENT"
wine_begins

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
}

# compared NAME: natively and instrumented, without and with imports
compared()
{
    local name=$1 option
    for option in --no-verify --instrument-imports; do
        hooked "$name" "$option"
        run native "$name"
        run instrumented "$name"
        compare_runs "$name $option"
    done
}

clang --target=x86_64-w64-mingw32 -O2 -fms-extensions -c "$programs/handlers.c" -o handlers.o
"$compiler" handlers.o "$programs/guarded.S" -o native/handlers.exe
"$compiler" -O2 "$programs/single_step.c" "$programs/frames.S" -o native/single_step.exe
x86_64-w64-mingw32-g++-posix -O2 -g -static "$programs/thrown.cpp" -o native/thrown.exe
"$compiler" -O2 -shared "$programs/library.c" -o native/library.dll -Wl,--out-implib,library.a
"$compiler" -O2 "$programs/uses_library.c" library.a -o native/uses_library.exe

compared handlers.exe
contains native.stdout 'own handler, load: 5 -1'
equal "how guarded_load is hooked" "$(state_of guarded_load handlers.exe)" "hooked short-jump"
hooked library.dll
compared thrown.exe
equal "status" "$(<native.status)" 7
compared uses_library.exe
contains native.stdout '^44 48 49 50 1 77'
equal "an import" "$(state_of leaf@plt uses_library.exe)" "hooked import"
instrument --list instrumented/uses_library.exe >list
contains list 'skipped	return-address	GetProcAddress@plt'

# The notes that are for the user, once each: the agent was put beside the output.
mkdir elsewhere
instrument native/library.dll -o elsewhere/library.dll >line 2>notes
contains notes 'hooks.dll, the agent, was put beside the output'
cmp elsewhere/hooks.dll "$AGENT"
instrument native/handlers.exe -o elsewhere/handlers.exe >line 2>notes
equal "notes when it is there" "$(<notes)" ""

# Every instruction of the moved prologues.
hooked single_step.exe
run instrumented single_step.exe
contains instrumented.stdout '^0 wrong'
contains instrumented.stderr '^6 stubs'

# text_offset FOLDER: where the code lies in FOLDER/crowded.exe
text_offset()
{
    x86_64-w64-mingw32-objdump -h "$1/crowded.exe" | awk '$2 == ".text" { print $6 }'
}

# More and more sections, until headers must grow. A symbol table stays readable.
grown=0
for count in $(seq 0 13); do
    for ((i = 0; i < count; i++)); do
        echo ".section s$i, \"dr\"; .long $i"
    done >sections.s
    "$compiler" -O2 -g "$programs/uses_library.c" sections.s library.a -o native/crowded.exe
    hooked crowded.exe
    x86_64-w64-mingw32-nm instrumented/crowded.exe >names
    contains names ' T main$'
    [[ $(text_offset native) == "$(text_offset instrumented)" ]] || grown=$((grown + 1))
    run native crowded.exe
    run instrumented crowded.exe
    compare_runs "crowded.exe with $count sections more"
done
((grown > 0)) || fail "no headers ever grew"
((grown < 14)) || fail "headers always grew"

# An overlay: at its place, and at the end.
{ cat native/thrown.exe; echo 'the overlay'; } >native/overlay.exe
hooked overlay.exe
tail -c 12 instrumented/overlay.exe | cmp - <(echo 'the overlay')
run native overlay.exe
run instrumented overlay.exe
compare_runs overlay.exe

# word FILE OFFSET: 4 bytes; put FILE OFFSET BYTES: as printf takes them
word()
{
    od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '
}

put()
{
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# A signature.
cp native/overlay.exe native/signed.exe
size=$(stat -c %s native/signed.exe)
nt=$(word native/signed.exe 60)
printf -v field '\\x%02x\\x%02x\\x%02x\\x%02x\\x08\\0\\0\\0' $((size & 255)) $((size >> 8 & 255)) \
    $((size >> 16 & 255)) $((size >> 24))
put native/signed.exe $((nt + 24 + 112 + 32)) "$field"
printf 'signed!!' >>native/signed.exe
hooked signed.exe
contains notes 'signed.exe: its signature does not hold any more; dropped'
equal "certificates left" "$(word instrumented/signed.exe $((nt + 24 + 112 + 32)))" 0

# refused NAME PATTERN: with one line, and nothing is left
refused()
{
    local status=0
    instrument "native/$1" -o refused.exe >line 2>&1 || status=$?
    equal "status for $1" "$status" 1
    equal "lines for $1" "$(wc -l <line)" 1
    contains line "$2"
    [[ ! -e refused.exe ]] || fail "$1: an output was left"
}

cp instrumented/handlers.exe native/again.exe
refused again.exe 'already instrumented'
cp native/handlers.exe native/i386.exe
put native/i386.exe $((nt + 4)) '\x4c\x01'
refused i386.exe 'expected PE32 \(magic 0x10b\), found 0x20b'
cp native/handlers.exe native/arm64.exe
put native/arm64.exe $((nt + 4)) '\x64\xaa'
refused arm64.exe 'found one for arm64'
cp native/handlers.exe native/dotnet.exe
put native/dotnet.exe $((nt + 24 + 112 + 14 * 8)) '\x01\x20'
refused dotnet.exe 'found a .NET program'
printf '.section .go, "dr"; .ascii "\\377 Go build ID: \\"abc\\""\n' >go.s
"$compiler" "$programs/uses_library.c" go.s library.a -o native/go.exe
refused go.exe 'found a Go program'
"$compiler" "$programs/uses_library.c" "$TESTS/programs/go_table.S" library.a -o native/go_table.exe
refused go_table.exe 'found a Go program'
# Nothing leads to the table: it is data of another kind.
"$compiler" -DALONE "$programs/uses_library.c" "$TESTS/programs/go_table.S" library.a -o native/alone.exe
hooked alone.exe
"$compiler" "$programs/uses_library.c" "$TESTS/programs/ocaml.S" library.a -o native/ocaml.exe
refused ocaml.exe 'found an OCaml program'
head -c 300 native/handlers.exe >native/short.exe
refused short.exe 'truncated|malformed'

# A tree with programs for both.
mkdir -p tree/windows tree/linux
cp native/handlers.exe native/arm64.exe tree/windows
cp native/library.dll tree/windows
cp "$BUILD/rewriter/instrument" tree/linux
"$BUILD/rewriter/instrument" --agent="$AGENT" tree -o instrumented_tree >line 2>notes
contains line '4 files: 3 instrumented, 0 other files copied, 1 refused \(0 Go, 0 already instrumented, 1 for another machine'
cmp instrumented_tree/windows/hooks.dll "$AGENT"
instrument --verify instrumented_tree/windows/library.dll >said

# Names and modules of filters.
instrument native/library.dll -o filtered.dll --include=leaf >line 2>notes
contains line ' 1 hooked'
instrument --list native/library.dll --exclude='module:library.dll' >list
! grep -q '	hooked	' list || fail "a module was not excluded"
