#!/bin/bash
# The report in windows of any width: below 700 px nothing scrolls sideways but code, names that are cut are
# whole on hover, and a wider window cuts less of them. The overview's first picture is of files only if most of
# the time is in functions whose files are known.
# needs: chromium chromium-driver python3
# seconds: 15
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
long=a_name_that_is_as_long_as_those_of_templates_within_namespaces_are_and_then_some_more

# Of each COMMAND PAGE ARGUMENT…; once all pages are there, as a browser takes long to begin.
pages=()
on_page()
{
    pages+=("$1" "file://$work/$2" "$work/profile" "${@:3}" --)
}

# known and other have debug information, unknown has none: its share of the work is the argument, of 100.
cat >known.c <<EOF
volatile long sink;
__attribute__((noinline)) void $long(int n) { for (int i = 0; i < n; i++) sink += i; }
EOF
cat >other.c <<EOF
void $long(int n);
__attribute__((noinline)) void in_another_file_with_a_rather_long_name(int n) { $long(n); __asm__(""); }
EOF
cat >unknown.c <<EOF
#include <stdlib.h>
void in_another_file_with_a_rather_long_name(int n);
volatile long own;
__attribute__((noinline)) void unknown(int n) { for (int i = 0; i < n; i++) own += i; }
int main(int argc, char **argv)
{
    int share = atoi(argv[1]);
    for (int i = 0; i < 100; i++) {
        unknown(20000 * share);
        in_another_file_with_a_rather_long_name(20000 * (100 - share));
    }
    return argc != 2;
}
EOF
for source in known other; do gcc -O1 -g -c $source.c; done
gcc -O1 -c unknown.c
gcc known.o other.o unknown.o -o native/parts
instrumented parts --overwrite

# page NAME SHARE: of a run in which that many percent have no file
page()
{
    run instrumented "$BUILD/service/call_trace_service" start --timing=exact --slices=20 \
        --trace-dir="$work/$1" -- ./parts "$2"
    equal "status" "$(<instrumented.status)" 0
    grinder --mode=report --source-root="$work" --output-file="$1.html" "$1"
}

page most_known 10
page half_known 50
on_page first_picture most_known.html files 2
on_page first_picture half_known.html functions 3
on_page narrow most_known.html $long
on_page names most_known.html $long

echo '-- functions that only pass time on'
cat >chains.c <<'EOF'
volatile long sink;
#define NOT_INLINE __attribute__((noinline))
NOT_INLINE void deep_work(void) { for (int i = 0; i < 20000000; i++) sink += i; }
NOT_INLINE void left_work(void) { for (int i = 0; i < 20000000; i++) sink += i; deep_work(); sink++; }
NOT_INLINE void right_work(void) { for (int i = 0; i < 20000000; i++) sink += i; deep_work(); sink++; }
NOT_INLINE void left_of_it(void) { left_work(); sink++; }
NOT_INLINE void left(void) { left_of_it(); sink++; }
NOT_INLINE void right(void) { right_work(); sink++; }
NOT_INLINE void turns(int n);
NOT_INLINE void turns_back(int n) { turns(n - 1); sink++; }
NOT_INLINE void turns(int n) { for (int i = 0; i < 20000000; i++) sink += i; if (n) turns_back(n); sink++; }
int main(void) { left(); right(); turns(1); return 0; }
EOF
gcc -O1 -g chains.c -o native/chains
instrumented chains --overwrite
run instrumented "$BUILD/service/call_trace_service" start --timing=exact --trace-dir="$work/chained" -- ./chains
grinder --mode=report --output-file=chains.html chained
on_page chains chains.html

echo '-- times of calls, and processes'
build timed_calls timed_calls.c -pthread
instrumented timed_calls --overwrite --time=serves --time=jumps
run instrumented "$BUILD/service/call_trace_service" start --timing=samples --trace-dir="$work/timed" -- \
    sh -c './timed_calls; ./timed_calls'
grinder --mode=report --source-root="$TESTS" --output-file=timed.html timed
on_page narrow timed.html serves
python3 "$TESTS/report_widths.py" "${pages[@]}"
