#!/bin/bash
# The report: its figures are those of the summary, hostile sources stay text, the time slices show
# the phases of a run, and a browser walks through both forms of it without an error.
# needs: chromium chromium-driver python3
# seconds: 30
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
check()
{
    python3 "$TESTS/report.py" "$@" || fail "report.py $*"
}

# What no page may take for its own, in a source that is otherwise tests/programs/report.c.
mkdir sources
{
    cat "$TESTS/programs/report.c"
    printf '\n// </script><script>document.title = "taken"</script><!-- <b>&amp;\n'
    printf '// not UTF-8: \xff\xfe\xc0\x80, a zero: \0, a tab:\t., \xe2\x80\xa8 ends a line elsewhere\n'
    printf '// %05000d\n/* open \n</SCRIPT> */ int after;\r\n'
} >sources/report.c
build report "$work/sources/report.c"
instrumented report

recorded report 1000
traces=(traces/*.bin)
[[ -s ${traces[0]%.bin}.slices ]] || fail "no slices beside ${traces[0]}"

grinder --mode=report --source-root="$work" --output-file=page.html traces
check figures page.html summary
check hostile page.html
check phases page.html
grinder --mode=report --source-root="$work" --output-file=folder/ traces
check figures folder summary
check hostile folder
mkdir profile-light
check browse "file://$work/page.html" "$work/profile-light" -- browse "file://$work/folder/index.html" "$work/profile-light"

# --split is a folder too, whatever it is called; a name of its own otherwise.
grinder --mode=report --source-root="$work" --split --output-file=second traces
cmp second/data.js folder/data.js || fail "--split differs from a name that ends with /"
pid=$(sed -n 's/^process \([0-9]*\) .*/\1/p' summary)
grinder --mode=report --source-root="$work" traces
cmp "report.$pid.html" page.html || fail "report.$pid.html differs"

# What is selected is what is shown.
grinder --mode=summary --thread=2 traces >summary.2
grinder --mode=report --source-root="$work" --thread=2 --output-file=second.html traces
check figures second.html summary.2

# Without sources there are instructions; without slices a report that says so.
rm -f traces/*.slices
mv sources moved
grinder --mode=report --source-root="$work" --output-file=bare.html traces
check figures bare.html summary
check bare bare.html
check without_slices bare.html
grinder --mode=report --source-root="$work" --output-file=mapped.html --path-map="$work/sources=$work/moved" traces
check hostile mapped.html

# One module without source: the first picture is of its functions.
mkdir stripped
strip -o stripped/report native/report
instrument stripped/report -o stripped/report.instr >/dev/null
call_trace_service start --trace-dir="$work/stripped/traces" -- stripped/report.instr 20 >/dev/null
grinder --mode=report --output-file=stripped.html stripped/traces
check first_picture "file://$work/stripped.html" "$work/profile-stripped" functions 5 -- \
    first_picture "file://$work/page.html" "$work/profile-stripped" functions 5 # one file, one module

# Slices that are damaged or another trace's are left out, and named.
recorded report 20
traces=(traces/*.bin)
slices=${traces[0]%.bin}.slices
head -c 100 "$slices" >cut
printf 'UMBRA, but no slices' >wrong
cp "$slices" whole
for kind in cut wrong; do
    cp "$kind" "$slices"
    grinder --mode=report --source-root="$work" --output-file=bad.html traces 2>problems || fail "status $? for $kind"
    contains problems "slices: expected time slices, found something else"
    check figures bad.html summary
done
cp whole "$slices"
printf '\xff' | dd of="$slices" bs=1 seek=24 conv=notrunc status=none
grinder --mode=report --source-root="$work" --output-file=bad.html traces 2>problems
contains problems "found those of another recording"

# Damage of any kind costs bars, never the report.
seed=${SEED:-$RANDOM}
check damage whole "$seed" 60
for ((round = 0; round < 60; round++)); do
    mv "whole.$round" "$slices"
    grinder --mode=report --source-root="$work" --output-file=bad.html traces 2>problems ||
        fail "status $? for round $round of seed $seed"
done
check figures bad.html summary

# A service told to take none leaves none.
rm -rf none
run instrumented "$BUILD/service/call_trace_service" start --slices=0 --trace-dir="$work/none" \
    -- ./report 20
[[ -z $(find none -name '*.slices') ]] || fail "--slices=0 left slices"

# What cannot be written leaves nothing.
if grinder --mode=report --source-root="$work" --output-file="$work/nowhere/x.html" traces 2>problems; then
    fail "a report in a folder that is not there"
fi
contains problems "nowhere/x.html: cannot be written"
