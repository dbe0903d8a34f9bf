#!/bin/bash
# A report of a program with 50,000 functions opens in a browser, as one file and as a folder; what
# it weighs and takes is printed.
# needs: chromium chromium-driver python3
. "$(dirname "$0")/../lib.sh"

export PYTHONDONTWRITEBYTECODE=1 LIMIT=300

# A tree of functions in 50 files: f_N calls f_2N and f_2N+1. Assembly, as that is quick to build.
mkdir sources
for ((file = 0; file < 50; file++)); do
    awk -v first=$((file * 1000)) 'BEGIN {
        print "    .text"
        for (i = first; i < first + 1000; i++) {
            if (!i)
                continue
            printf "    .globl f_%d\n    .type f_%d, @function\nf_%d:\n    .cfi_startproc\n", i, i, i
            print "    pushq %rbp\n    .cfi_adjust_cfa_offset 8\n    movq %rsp, %rbp\n    nopl 0(%rax)"
            for (child = 2 * i; child < 2 * i + 2 && child <= 50000; child++)
                printf "    call f_%d@PLT\n", child
            printf "    popq %%rbp\n    .cfi_adjust_cfa_offset -8\n    ret\n    .cfi_endproc\n    .size f_%d, . - f_%d\n", i, i
        }
        if (first == 49000)
            print "    .globl f_50000\n    .type f_50000, @function\nf_50000:\n    .cfi_startproc\n    movl $1, %eax\n    nopl 0(%rax)\n    ret\n    .cfi_endproc\n    .size f_50000, . - f_50000"
        print "    .section .note.GNU-stack, \"\", @progbits" }' >"sources/part_$file.s"
done
cat >sources/main.c <<'END'
void f_1(void);
int main(void)
{
    for (int i = 0; i < 10; i++)
        f_1();
    return 0;
}
END
gcc -g -O1 sources/*.s sources/main.c -o native/large
instrumented large
record_large()
{
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- ./large
    equal "status" "$(<instrumented.status)" 0
}
record_large
grinder --mode=summary traces >summary

mkdir profile
grinder --mode=report --source-root="$work" --output-file=large.html traces
python3 "$TESTS/report.py" figures large.html summary
echo "one file: $(stat -c %s large.html) bytes"
python3 "$TESTS/report.py" large "file://$work/large.html" "$work/profile"

grinder --mode=report --source-root="$work" --output-file=large/ traces
echo "folder: $(stat -c %s large/data.js) bytes of data, $(find large -type f | wc -l) files"
python3 "$TESTS/report.py" large "file://$work/large/index.html" "$work/profile"

# Stripped of debug information: instructions in their place.
objcopy --strip-debug native/large
instrumented large
record_large
grinder --mode=report --source-root="$work" --output-file=bare.html traces
echo "instructions: $(stat -c %s bare.html) bytes"
python3 "$TESTS/report.py" large "file://$work/bare.html" "$work/profile"
