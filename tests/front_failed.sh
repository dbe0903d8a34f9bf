#!/bin/bash
# A recording that did not come about: it takes nobody's place, and one line says why there is none. A
# recording that cannot be read is said to be one that cannot be read.
# needs: gcc util-linux
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
chmod 755 "$work"
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello
echo '.section .note.go.buildid, "a", @note; .long 3, 4, 4; .asciz "Go"; .balign 4; .asciz "abc"; .section .note.GNU-stack, "", @progbits' |
    gcc -c -x assembler - -o note.o
gcc -static hello.c note.o -o go
gcc -static -nostdlib -x c - -o bare <<'E2'
void _start(void) { __asm__("mov $60, %eax; xor %edi, %edi; syscall"); }
E2
gcc -m32 -static -nostdlib -x c - -o elf386 <<'E2'
void _start(void) { __asm__("mov $1, %eax; xor %ebx, %ebx; int $0x80"); }
E2

# recordings: what is in the folder, by the files' own numbers
recordings()
{
    stat -c '%n %i' umbra.data umbra.data.old
}

# failed PATTERN PROGRAM…: recorded into umbra.data, of which the line says that; the others stay
failed()
{
    local pattern=$1 before
    shift
    before=$(recordings)
    umbra record "$@" >out 2>said || true
    equal "$*: the recordings" "$(recordings)" "$before"
    equal "$*: the lines that say it" "$(grep -c 'no process was recorded: ' said)" 1
    contains said "^umbra: no process was recorded: $pattern; the earlier recording keeps its name"
    contains said ', this one is umbra\.data\.failed: umbra ls --left umbra\.data\.failed$'
    umbra ls --left umbra.data.failed >left
    contains left "^umbra: umbra\.data\.failed: no process was recorded: $pattern\$"
}

echo '-- two good recordings'
umbra record --quiet -- ./hello >out
umbra record --quiet -- ./hello >out

echo '-- and what cannot be recorded'
failed "$work/go: .*Go program.*" ./go
failed "$work/bare: expected functions to hook, found none that can be" ./bare
printf '#!%s/go\n' "$work" >script
chmod 755 script
failed "$work/go: .*Go program.*" ./script
failed "$work/hello: --leave says so" --leave='*' -- ./hello
if ./elf386; then
    failed "$work/elf386: expected a dynamically linked program for i386, found a static one" ./elf386
    failed "$work/elf386: expected a dynamically linked program for i386, found a static one" ./elf386
    failed "$work/elf386: expected a dynamically linked program for i386, found a static one" --in-place=no -- ./elf386
else
    echo 'skipped: programs of 32 bits, which this kernel does not execute'
fi
umbra report umbra.data.failed 2>said && fail 'a report of nothing' || true
contains said '^umbra: umbra\.data\.failed: no process was recorded: .*'
umbra diff >out 2>said || fail "diff: $(<said)"

echo '-- what has the name of a failed one stays'
rm -r umbra.data.failed
mkdir umbra.data.failed
before=$(recordings)
umbra record -- ./go >out 2>said || true
equal 'the recordings' "$(recordings)" "$before"
contains said '^umbra: no process was recorded: .*Go program.*; umbra.data is the earlier recording$'
equal 'the other folder' "$(ls -A umbra.data.failed)" ''
equal 'what is left over' "$(echo umbra.data*)" 'umbra.data umbra.data.failed umbra.data.old'

echo '-- without an earlier one'
umbra record -o new.data -- ./bare 2>said
contains said '^umbra: what cannot be instrumented can be sampled: umbra record --how=samples -- '
equal 'said' "$(grep 'no process was recorded' said)" "umbra: new.data: no process was recorded: $work/bare: expected functions to hook, found none that can be"
umbra record -o new.data -- ./bare 2>said
umbra record --quiet -o new.data -- ./hello >out
umbra report --text new.data >out
equal 'what failed goes' "$(echo new.data*)" new.data

echo '-- a program that is there, but cannot be run'
printf 'int main(void) { return 0; }\n' | gcc -x c - -Wl,--dynamic-linker=/no/linker -o unlinked
umbra record -o unlinked.data -- ./unlinked 2>said && status=0 || status=$?
equal 'its status' "$status" 127
contains said '^umbra: unlinked.data: no process was recorded: ./unlinked: cannot be run: the dynamic linker that it names is not there$'
printf '#!/no/interpreter\n' >script
umbra record --quiet -o unlinked.data -- ./script 2>said && status=0 || status=$?
equal 'a script without interpreter' "$status $(<said)" \
    '127 umbra: ./script: cannot be run: its first line names /no/interpreter, which is not there or needs what is not there'

echo '-- no room'
mkdir small
if unshare -Urm mount -t tmpfs none small 2>/dev/null; then
    # shellcheck disable=SC2016
    unshare -Urm sh -c 'mount -t tmpfs -o size=20k none small
        "$1" record -o small/r.data -- ./hello
        "$1" ls --left small/r.data' sh "$umbra" >out 2>said
    contains out '^hello$'
    contains said "no process was recorded: $work/hello: .*No space left on device"
fi

((EUID == 0)) || { echo 'skipped: another user, for want of rights'; exit 0; }
echo "-- another user's recording"
as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${as_other[@]}" test -x "$umbra" || { echo "skipped: others cannot get at $umbra"; exit 0; }
for verb in report ls 'ls --left' 'diff umbra.data.old'; do
    for mode in 700 755; do
        chmod $mode umbra.data umbra.data.old
        # shellcheck disable=SC2086
        "${as_other[@]}" "$umbra" $verb umbra.data 2>said >out && status=0 || status=$?
        named=umbra.data
        [[ $verb != diff* ]] || named+=.old
        equal "$verb of $mode: status" "$status" 1
        equal "$verb of $mode" "$(<said)" "umbra: $named: cannot be read: Permission denied; it is of user 0: read it as that user or as root"
    done
done
mkdir -m 777 open
cp -r umbra.data open
chmod 755 open/umbra.data
(cd open && "${as_other[@]}" "$umbra" record -- ../hello) >out 2>said && fail 'in the place of another' || true
equal 'in the place of another' "$(<said)" 'umbra: umbra.data: what is there cannot be read: Permission denied; name another place with -o'
