#!/bin/bash
# Another report that is chosen as what was before: what changed since is what grinder --mode=diff says, in the
# overview and at the functions. What is no report is refused, and so is one with times of another kind.
# needs: chromium chromium-driver python3
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1

# Of each COMMAND PAGE ARGUMENT…; once all pages are there, as a browser takes long to begin.
pages=()
on_page()
{
    pages+=("$1" "file://$work/$2" "$work/profile" "${@:3}" --)
}

for version in 1 2; do
    cat >version.c <<EOF
#include <stdlib.h>
volatile long sink;
__attribute__((noinline)) void same(int n) { for (int i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void slower(int n) { for (int i = 0; i < n * $version * $version; i++) sink += i; }
__attribute__((noinline)) void only_in_$version(int n) { for (int i = 0; i < n; i++) sink += i; }
int main(void)
{
    for (int i = 0; i < 50 * $version; i++) { same(600000); slower(3000000); only_in_$version(1000); }
    return 0;
}
EOF
    gcc -O1 -g version.c -o "native/version$version"
    instrumented version$version
    for timing in exact samples; do
        run instrumented "$BUILD/service/call_trace_service" start --timing=$timing \
            --trace-dir="$work/$timing.$version" -- "./version$version"
        equal "status" "$(<instrumented.status)" 0
        grinder --mode=report --source-root="$work" --output-file=$timing.$version.html $timing.$version
    done
done
grinder --mode=report --source-root="$work" --output-file=folder/ exact.1
echo 'no report' >other.html

for timing in exact samples; do
    grinder --mode=diff --output-format=tsv --output-file=$timing.tsv $timing.1 $timing.2
    on_page changes $timing.2.html "$work/$timing.1.html" $timing.tsv
done
on_page changes exact.2.html "$work/folder/data.js" exact.tsv
on_page refused exact.2.html "$work/other.html" 'found something else'
on_page refused exact.2.html "$work/samples.1.html" 'not compared'
python3 "$TESTS/report_before.py" "${pages[@]}"
