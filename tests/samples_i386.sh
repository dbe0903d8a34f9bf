#!/bin/bash
# A program of 32 bits that is not instrumented is sampled: names, lines and instructions are those of its files.
# needs: binutils gcc gcc-multilib
. "$(dirname "$0")/lib.sh"

cat >spin.c <<'END'
__asm__(".globl spin; .type spin, @function; spin: .cfi_startproc; mov 4(%esp), %ecx\n"
        "1: inc %eax; dec %ecx; jnz 1b; ret; .cfi_endproc; .size spin, . - spin");
void spin(unsigned times);
__attribute__((noinline)) void turn(unsigned times)
{
    for (; times; times--)
        __asm__ volatile("");
}
int main(void)
{
    for (int i = 0; i < 10; i++) {
        spin(50000000);
        turn(50000000);
    }
    return 0;
}
END
gcc -m32 -O1 spin.c -o plain
gcc -m32 -O1 -g spin.c -o debug
if ! ./plain; then
    echo 'skipped: programs of 32 bits, which this kernel does not execute'
    exit 0
fi
if ! call_trace_service start --mode=samples --trace-dir=probe -- true 2>err; then
    contains err 'whole stacks cannot be sampled here: perf_event_open'
    echo "perf_event_open is not allowed here"
    exit 0
fi

echo '-- instructions, where there is no source'
call_trace_service start --mode=samples --trace-dir=plain.traces -- ./plain
grinder --mode=report --output-file=page.html plain.traces
contains page.html '\\tinc eax\\n[0-9]+\\tdec ecx\\n[0-9]+\\tjnz '

# named PROGRAM: samples of it have names, and turn a line, too
named()
{
    call_trace_service start --mode=samples --trace-dir="$1.traces" -- "./$1"
    grinder --mode=profile --output-format=tsv --merge --output-file="$1.tsv" "$1.traces"
    sed 's/^/    /' "$1.tsv"
    awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { all += $column["self_ns"] }
        $column["function"] == "spin" { spin += $column["self_ns"] }
        $column["function"] == "turn" && $column["file"] ~ /\/spin.c$/ && $column["line"] ~ /^[45]$/ {
            turn += $column["self_ns"]
        }
        END { exit !(spin && turn && spin + turn > 0.9 * all) }' "$1.tsv" ||
        fail "$1: samples have not the names and lines of their functions"
}

echo '-- names and lines'
named debug

echo '-- and those of a separate debug file, by its link and by its build-id'
gcc -m32 -O1 -g -Wl,--build-id=none spin.c -o linked
gcc -m32 -O1 -g -Wl,--build-id=0xabcdef0123456789 spin.c -o identified
objcopy --only-keep-debug linked linked.debug
objcopy --only-keep-debug identified kept
strip linked identified
objcopy --add-gnu-debuglink=linked.debug linked
named linked
mkdir -p .debug-files/.build-id/ab
mv kept .debug-files/.build-id/ab/cdef0123456789.debug
call_trace_service start --mode=samples --trace-dir=identified.traces -- ./identified
grinder --mode=summary --debug-dir=.debug-files identified.traces >said
contains said ' turn$'
