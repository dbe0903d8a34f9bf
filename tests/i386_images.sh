#!/usr/bin/env bash
# ELF images of i386 run instrumented as they do without, whatever made them; an agent that records nothing is
# enough for that. What cannot be instrumented is refused.
# needs: gcc gcc-multilib binutils lld
. "$(dirname "$0")/lib.sh"

echo 'int main(void) { return 0; }' >empty.c
gcc -m32 empty.c -o empty 2>/dev/null && ./empty || { echo 'skipped: no programs of 32 bits here'; exit 0; }

gcc -m32 -shared -nostdlib "$TESTS/../rewriter/check/pass_through_i386.S" -o libhooks32.so
gcc -m32 -shared -nostdlib -DENDS_THE_PROGRAM "$TESTS/../rewriter/check/pass_through_i386.S" -o libends.so

instrument()
{
    "$BUILD/rewriter/instrument" --agent="${agent:-$work/libhooks32.so}" "$@"
}

# without_warnings FILE: readelf finds nothing to complain of
without_warnings()
{
    readelf -aW "$1" 2>warnings >/dev/null
    [[ ! -s warnings ]] || { cat warnings >&2; fail "readelf warns of $1"; }
}

# proved FILE ORIGINAL: it is the original but for the hooks, and becomes it again
proved()
{
    instrument --verify "$1" >/dev/null
    instrument --undo "$1" -o undone --overwrite >/dev/null
    cmp undone "$2"
}

# as_before NAME: native/NAME and instrumented/NAME do the same
as_before()
{
    local status=0 other=0
    (cd native && "./$1") >before || status=$?
    (cd instrumented && timeout 20 "./$1") >after || other=$?
    cmp before after || fail "$1: other output"
    equal "$1: status" "$other" "$status"
}

# --- what compilers and linkers make
variant=0
while read -r options; do
    variant=$((variant + 1))
    # shellcheck disable=SC2086
    gcc -m32 $options "$TESTS/programs/i386_images.c" -o "native/program$variant"
    instrument "native/program$variant" -o "instrumented/program$variant" >said
    hooked=$(sed -n 's/.* functions found, \([0-9]*\) hooked.*/\1/p' said)
    ((hooked >= 15)) || fail "$options: $hooked functions hooked"
    without_warnings "instrumented/program$variant"
    as_before "program$variant"
    proved "instrumented/program$variant" "native/program$variant"
done <<'END'
-O0
-O2
-Os
-O2 -s
-O1 -no-pie -fno-pie
-O2 -no-pie -fno-pie -s
-O2 -fno-plt -Wl,-z,now
-O2 -fno-plt -no-pie -fno-pie
-O2 -fcf-protection=full -fno-omit-frame-pointer
-O2 -march=i686 -fcf-protection=none -mpreferred-stack-boundary=2
-O2 -Wl,--hash-style=sysv
-O2 -Wl,-z,pack-relative-relocs
-O2 -fuse-ld=lld -Wl,--hash-style=both
-O2 -fuse-ld=lld -no-pie -fno-pie
END

# The hooks are run, each time.
agent=$work/libends.so instrument native/program1 -o ends >/dev/null
{ status=$(./ends >/dev/null || echo $?); } 2>/dev/null
equal 'status where the hook ends the program' "$status" $((128 + 4))

# --- pointers, whose addends are where they point from, and words that DT_RELR tells of
for options in '' -Wl,-z,pack-relative-relocs; do
    # shellcheck disable=SC2086
    gcc -m32 $options "$TESTS/programs/i386_redirected.S" -o native/redirected
    instrument --list native/redirected >list
    contains list $'hooked\tredirected\tone$'
    contains list $'hooked\tredirected\ttwo$'
    instrument native/redirected -o instrumented/redirected --overwrite >/dev/null
    without_warnings instrumented/redirected
    as_before redirected
    proved instrumented/redirected native/redirected
done

# --- unwinding from each instruction of stubs
for options in -O0 -O2 -Os '-O2 -no-pie -fno-pie'; do
    # shellcheck disable=SC2086
    gcc -m32 -D_GNU_SOURCE $options -fasynchronous-unwind-tables "$TESTS/../rewriter/check/single_step.c" \
        -o native/stepped
    instrument native/stepped -o instrumented/stepped --overwrite >/dev/null
    as_before stepped
done

# --- libraries, the C library itself among them
mkdir libraries
cp "$(gcc -m32 -print-file-name=libc.so.6)" native/libc.so.6
cp "$(gcc -m32 -print-file-name=libgcc_s.so.1)" native/libgcc_s.so.1
for library in libc.so.6 libgcc_s.so.1; do
    instrument "native/$library" -o "libraries/$library" >/dev/null
    without_warnings "libraries/$library"
    proved "libraries/$library" "native/$library"
done
for program in program1 program2 stepped; do
    status=0 other=0
    "native/$program" >before || status=$?
    LD_LIBRARY_PATH=$work/libraries "instrumented/$program" >after || other=$?
    cmp before after
    equal "$program: status with libraries" "$other" "$status"
done

# --- exceptions, where there is a C++ library to link with
if g++ -m32 -O2 "$TESTS/programs/exceptions.cpp" -o native/exceptions 2>/dev/null; then
    instrument native/exceptions -o instrumented/exceptions >/dev/null
    as_before exceptions
else
    echo 'skipped: exceptions: no C++ library of 32 bits to link with'
fi

# --- the agent beside it
mkdir bundle
instrument --bundle native/program2 -o bundle/program2 >/dev/null
cmp bundle/libhooks32.so libhooks32.so
contains <(readelf -dW bundle/program2) 'NEEDED.*\[\$ORIGIN/libhooks32.so\]'

# --- what is refused

# refused WORDS ARGUMENTS…
refused()
{
    local words=$1 status=0
    shift
    instrument "$@" -o refused 2>error >/dev/null || status=$?
    equal "status of $*" "$status" 1
    contains error "$words"
    [[ ! -e refused ]] || fail "$*: left a file"
}
gcc -m32 -static "$TESTS/programs/i386_images.c" -o native/static
printf '%s\n' '.globl f' 'f: movl $g, %eax' 'ret' '.data' '.globl g' 'g: .long 0' >text.s
gcc -m32 -shared -nostdlib -Wl,-z,notext text.s -o native/text.so 2>/dev/null
refused 'expected a dynamically linked program for i386, found a static one' native/static
refused 'relocations in it \(DT_TEXTREL\)' native/text.so
refused 'bodies are copied in ELF files for x86-64 only' --how=copy native/program1
refused 'expected an ELF file for x86-64 that the dynamic linker loads' --count=blocks native/program1
refused 'expected an ELF file for x86-64, found another' --away=0x70000000 native/program1
refused 'already instrumented' instrumented/program1
gcc -m32 -shared -nostdlib text.s -Wl,-z,notext -o other.so 2>/dev/null
agent=$work/other.so refused 'found a library without umbra_enter_13' native/program1
