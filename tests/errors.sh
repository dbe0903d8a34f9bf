#!/bin/bash
# What cannot be done is said in one line that names the file, what was expected and found, and what
# to do; with status 1, or 2 for wrong usage; and nothing half-written is left behind.
. "$(dirname "$0")/lib.sh"

as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
((EUID == 0)) || as_nobody=()

# Files below here with their sizes and permissions, folders by name: their sizes say nothing.
files()
{
    find . \( -name error -o -name said \) -o -type d -printf '%P/\n' -o -printf '%P %s %m\n' | sort
}

# refused STATUS PATTERN COMMAND…: its single line of error matches the pattern, in lower case; no
# file appears in the working directory.
refused()
{
    local expected=$1 pattern=$2 before after status=0
    shift 2
    before=$(files)
    "$@" >said 2>error </dev/null || status=$?
    after=$(files)
    equal "$*: status" "$status" "$expected"
    equal "$*: lines of error" "$(wc -l <error)" 1
    [[ ! -s said ]] || fail "$*: said on stdout: $(<said)"
    grep -Eiq -- "$pattern" error || fail "$*: '$(<error)' does not match '$pattern'"
    equal "$*: files" "$after" "$before"
}

build fib "$TESTS/../samples/fib.c"
mkdir input
cp native/* input
cp "$AGENT" input/libhooks.so
cp "$TESTS/../samples/fib.c" input/fib.c
cd input

# --- what cannot be instrumented
echo 'int main(void) { return 0; }' >source.c
gcc -c source.c -o object.o
echo hello >text
: >empty
head -c 40 fib >header
head -c 3000 fib >truncated
head -c $(($(stat -c %s fib) - 200)) fib >without_end
printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\050\0\1\0\0\0' >arm
head -c 4000 /dev/zero >>arm
cp fib aarch64
printf '\267\0' | dd of=aarch64 bs=1 seek=18 conv=notrunc status=none # e_machine
# Go's mark: a note of type 4 by "Go", or the table of its functions, by its section's name or by
# what it holds.
echo '.section .note.go.buildid, "a", @note; .long 3, 4, 4; .asciz "Go"; .balign 4; .asciz "abc"; .section .note.GNU-stack, "", @progbits' |
    gcc -c -x assembler - -o note.o
gcc -static fib.c note.o -o go_note
objcopy --rename-section .note.go.buildid=.note.renamed go_note
objcopy --add-section .gopclntab=text fib go_section
for pie in -pie -no-pie '-static -DALONE'; do
    gcc $pie fib.c "$TESTS/programs/go_table.S" -o "go_table${pie%% *}"
done
gcc fib.c "$TESTS/programs/ocaml.S" -o ocaml
# What describes a module that Mono compiled ahead of time: a library of its own, or linked with it
echo 'char mono_aot_file_info[8] = "aot"; int f(int n) { return n + 1; }' >ahead.c
gcc -O2 -shared -fPIC ahead.c -o ahead.so
sed 's/file_info/module_x_info/' ahead.c | gcc -O2 -rdynamic fib.c -x c - -o ahead
rm ahead.c
# What a tool of Valgrind's looks for in the environment
echo 'const char *volatile launcher = "VALGRIND_LAUNCHER"; int main(void) { return !launcher; }' |
    gcc -O2 -static -x c - -o tool
rm note.o fib.c
refused 1 'nosuch.*no such file' instrument nosuch -o out
refused 1 'text.*ELF' instrument text -o out
refused 1 'empty.*ELF' instrument empty -o out
refused 1 'source.c.*ELF' instrument source.c -o out
refused 1 'header' instrument header -o out
refused 1 'truncated' instrument truncated -o out
refused 1 'without_end' instrument without_end -o out
refused 1 'for arm' instrument arm -o out
refused 1 'aarch64' instrument aarch64 -o out
refused 1 'object.o.*(object|relocatable)' instrument object.o -o out
refused 1 'go_note.*Go program.*stacks' instrument go_note -o out
refused 1 'go_section.*Go program.*stacks' instrument go_section -o out
refused 1 'go_section.*Go program' instrument --list go_section
refused 1 'go_table-pie.*Go program.*stacks' instrument go_table-pie -o out
refused 1 'go_table-no-pie.*Go program.*stacks' instrument go_table-no-pie -o out
instrument go_table-static -o out >/dev/null # nothing leads to the table: it is data of another kind
rm out
refused 1 'ahead.so.*found code that Mono compiled ahead of time' instrument ahead.so -o out
refused 1 'ahead.so.*found code that Mono compiled' instrument --list ahead.so
refused 1 'ahead: .*found code that Mono compiled ahead of time' instrument ahead -o out
refused 1 "tool: .*found a tool of Valgrind's" instrument tool -o out
# OCaml's code without the tables of its frames
refused 1 'ocaml: expected functions to hook, found none' instrument ocaml -o out
refused 1 '\. ?.*directory' instrument . -o out

instrument fib -o fib.instr >/dev/null
cp -p fib.instr before
refused 1 'fib.instr.*already' instrument fib.instr -o again
refused 1 'fib.instr.*(exists|--overwrite)' instrument fib -o fib.instr
refused 1 'Go' instrument go_note -o fib.instr --overwrite
cmp fib.instr before || fail "a file that was not to be overwritten is changed"
instrument fib -o fib.instr --overwrite >/dev/null
refused 1 'nosuch' instrument fib -o out --agent=nosuch
refused 1 'nowhere' instrument fib -o nowhere/out

# --- no permission, no room
mkdir -m 0755 closed
cp fib unreadable
chmod 0000 unreadable
chmod 0755 "$work" .
# Nobody may not be able to reach the build folder.
mkdir -m 0755 "$work/tools"
cp "$BUILD/rewriter/instrument" "$BUILD/service/call_trace_service" "$work/tools"
if ((EUID == 0)); then
    refused 1 'unreadable.*permission' "${as_nobody[@]}" "$work/tools/instrument" \
        --agent="$PWD/libhooks.so" unreadable -o out
    refused 1 'closed.*permission' "${as_nobody[@]}" "$work/tools/instrument" \
        --agent="$PWD/libhooks.so" fib -o closed/out
fi
# No file may grow past 8 KiB: what a full disk looks like to the writer.
limited()
{
    (trap '' XFSZ; ulimit -f 8; "$@")
}
refused 1 '(too large|no space|full|size)' limited "$BUILD/rewriter/instrument" --agent="$AGENT" \
    fib -o out

# --- wrong usage
refused 2 '.' instrument
refused 2 '(-o|output)' instrument fib
refused 2 'nonsense' instrument --nonsense fib -o out
refused 2 '.' grinder
refused 2 'nonsense' grinder --mode=nonsense text
refused 2 'nonsense' call_trace_service nonsense
status=0
call_trace_service status --instance-id=nobody >said || status=$?
equal "status without a service: status" "$status" 1
equal "status without a service" "$(<said)" "instance nobody: not running"
refused 1 '^call_trace_service: instance nobody: not running; start it' call_trace_service stop --instance-id=nobody
refused 2 'instance' call_trace_service status --instance-id=../up

# --- traces
call_trace_service start --trace-dir=traces -- ./fib.instr >/dev/null
mv traces/*.bin good.bin
rm -r traces
head -c 100 good.bin >cut_in_header.bin
head -c 6000 good.bin >cut.bin
cp good.bin other_version.bin
printf '\xff' | dd of=other_version.bin bs=1 seek=8 conv=notrunc status=none
refused 1 'nosuch.bin.*no such file' grinder --mode=summary nosuch.bin
refused 1 'text' grinder --mode=summary text
refused 1 'empty' grinder --mode=summary empty
refused 1 'cut_in_header.bin' grinder --mode=summary cut_in_header.bin
refused 1 'other_version.bin.*version.*255' grinder --mode=summary other_version.bin
refused 1 'other_version.bin.*version' grinder --mode=profile --output-file=out other_version.bin
refused 1 'nowhere' grinder --mode=profile --output-file=nowhere/out good.bin
# A trace cut off in the middle is told, and so is one that is only shorter than it says.
status=0
grinder --mode=summary cut.bin >said 2>error || status=$?
[[ $status == 1 && $(wc -l <error) == 1 ]] || { cat error; fail "a cut trace: status $status"; }
contains error 'cut\.bin'

# --- the service
: >file
refused 1 'file' call_trace_service start --trace-dir=file -- ./fib
refused 127 'nosuch' call_trace_service start --trace-dir=. -- ./nosuch
if ((EUID == 0)); then
    refused 1 'closed.*permission' "${as_nobody[@]}" env XDG_RUNTIME_DIR= \
        "$work/tools/call_trace_service" start --trace-dir=closed/traces -- ./fib
fi
# A program that must be recorded does not start without a service.
refused 1 'service' env UMBRA_REQUIRED=1 ./fib.instr
