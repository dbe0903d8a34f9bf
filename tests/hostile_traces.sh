#!/bin/bash
# Names of files, functions, threads and processes may hold anything but a zero. Whatever shows them,
# grinder and service, writes valid UTF-8 without control characters, and every format stays what it
# is, read by strict readers (hostile_traces.py).
# needs: gcc binutils bsdutils python3 protobuf-compiler
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
check()
{
    python3 "$TESTS/hostile_traces.py" "$@" || fail "hostile_traces.py $*"
}

# ESC [ 2 J clears a terminal; 0x9b is its other beginning, alone and as a character; U+202E turns what
# follows around; two bytes are the beginning of a character, or belong to none.
bad=$'x\e[2J\a\177\x9b\xc2\x9b\xe2\x80\xaeu\tv\nw\xf0\x9f\xfe'
own=${bad//$'\n'/} # Linux writes a newline as \012 where it says what is mapped
names=("$bad" '=cmd|calc!A1' '+1' '-1' '@x' '"=1"' $'\t=1' $'\r=1' ' =1' 'a;b 7' '(3) x' 'fn=(1)'
    '</script><b>&amp;"' "it's \\u0041 \\" '# x' '{"a":1}' '' '???' $'gr\xc3\xbc\xc3\x9f' '*' 'calls=1 1'
    "$(printf '%03000d' 7)" $'\xef\xbf\xbe' $'\xed\xa0\x80' $'\xe2\x80\xa8')

# A program that has functions with these names, in files with these names, and threads.
octal()
{
    printf '%s' "$1" | od -An -v -to1 | tr -d '\n' | sed 's/ /\\/g'
}

renames=()
{
    echo '#define _GNU_SOURCE'
    echo '#include <pthread.h>'
    echo 'static volatile int sink;'
    for i in "${!names[@]}"; do
        printf '#line %d "%s"\n' $((i + 1)) "$(octal "${names[i]:0:400}")"
        printf '__attribute__((noinline)) void *f%d(void *name) { sink++;' "$i"
        printf ' if (name) pthread_setname_np(pthread_self(), name); return 0; }\n'
        [[ ! ${names[i]} ]] || renames+=(--redefine-sym "f$i=${names[i]}")
    done
    printf '#line 1 "main.c"\nint main(void) { pthread_t thread; char *name;\n'
    for i in "${!names[@]}"; do
        printf 'name = "%s"; f%d(0); pthread_create(&thread, 0, f%d, name);' \
            "$(octal "${names[i]:0:15}")" "$i" "$i"
        printf 'pthread_join(thread, 0);\n'
    done
    echo 'return 0; }'
} >named.c
gcc -O1 -g -gdwarf-4 -pthread named.c -o plain
objcopy "${renames[@]}" plain "native/$own"
instrument "native/$own" -o "instrumented/$own" >/dev/null 2>&1

mkdir "traces$bad"
for mode in profile calltrace; do
    (cd instrumented && call_trace_service start --mode=$mode --trace-dir="$work/traces$bad/$mode" \
        --verbose -- "./$own" "=1" "$bad") 2>"service.$mode"
    check plain "service.$mode"
done
profile=("traces$bad"/profile/*.bin)
calltrace=("traces$bad"/calltrace/*.bin)
cp "${profile[0]}" "again$bad.bin"

# --- what people read
grinder --mode=summary --top=1000 "${profile[@]}" >text 2>said
check plain text said
contains text 'gr\xc3\xbc\xc3\x9f|grüß'
grinder --mode=summary --top=1000 "${calltrace[@]}" >text 2>said
check plain text said
for mode in diff stack; do
    traces=("${profile[0]}")
    [[ $mode == stack ]] || traces+=("again$bad.bin")
    grinder --mode=$mode --top=1000 --output-format=table "${traces[@]}" >text 2>said
    check plain text said
done
grinder --mode=top --once --top=1000 "${profile[@]}" >text 2>said
check plain text said
script -qec "$(printf '%q ' "$BUILD/grinder/grinder" --mode=top --count=1 "${profile[@]}")" typescript \
    </dev/null >/dev/null
sed -E 's/\r$//; s/\x1b\[(\?1049[hl]|\?25[hl]|[HJK]|2J)//g; /^Script /d' typescript >text
check plain text
# On a terminal with colour, which is the only thing that is not plain there; and elsewhere than in UTF-8.
TERM=xterm script -qec "$(printf '%q ' "$BUILD/grinder/grinder" --mode=summary --no-pager --top=1000 \
    "traces$bad/profile")" typescript </dev/null >/dev/null
contains typescript $'\x1b\\[1m'
sed -E 's/\r$//; s/\r\x1b\[K//g; s/\x1b\[(0|1|31)m//g; /^Script /d' typescript >text
check plain text
TERM=xterm NO_COLOR=1 LC_ALL=C script -qec "$(printf '%q ' "$BUILD/grinder/grinder" --mode=summary --no-pager \
    --quiet "traces$bad/profile")" typescript </dev/null >/dev/null
sed -E 's/\r$//; /^Script /d' typescript >text
! LC_ALL=C grep -q '[^ -~]' text || fail "not of ASCII: $(cat -v text)"
for arguments in "--mode=summary nosuch$bad" "--mode=$bad x" "--$bad" "--mode=profile --weight=$bad x" \
    "--mode=summary --path-map=$bad x" "--mode=report --source-root=nosuch$bad ${profile[0]}" \
    "--mode=profile --output-file=nosuch/$bad ${profile[0]}" "--mode=profile --output-format=$bad x"; do
    mapfile -t -d ' ' words < <(printf '%s' "${arguments/"${profile[0]}"/again}")
    words=("${words[@]/#again/"${profile[0]}"}")
    status=0
    grinder "${words[@]}" >text 2>said || status=$?
    ((status == 1 || status == 2)) || fail "$arguments: status $status"
    check plain text said
done
mv "instrumented/$own" moved
grinder --mode=summary "${profile[@]}" >text 2>said
check plain text said
contains said 'its functions are shown by number$'
mv moved "instrumented/$own"

# --- what programs read
for format in callgrind folded flamegraph pprof speedscope tsv tsv-edges json firefox; do
    for option in --thread-parts --merge; do
        grinder --mode=profile --output-format=$format $option --output-file="out" "${profile[@]}" 2>said
        check "$format" out
        check plain said
    done
done
for format in chrome perfetto firefox; do
    grinder --mode=profile --output-format=$format --output-file=out "${calltrace[@]}" 2>said
    check "$format" out
done
for format in tsv folded flamegraph; do
    grinder --mode=diff --output-format=$format --output-file=out "${profile[0]}" "again$bad.bin" 2>said
    check "${format/folded/folded2}" out
done
for format in tsv json; do
    grinder --mode=stack --output-format=$format --output-file=out "${profile[@]}" 2>said
    check "$format" out
done
for name in "${names[@]}"; do # as sources
    [[ ! $name || $name == */* ]] || printf 'int source; // %s\n' "$name" >"./${name:0:200}"
done
grinder --mode=report --source-root=. --output-file=page.html --verbose "${profile[@]}" 2>said
check report page.html
check plain said

# A spreadsheet takes none of them for a formula.
grinder --mode=profile --output-format=tsv --output-file=out "${profile[@]}"
check cells out function "'=cmd|calc!A1" "'+1" "'-1" "'@x" "'\"=1\"" "'\"=1\"" '?=1' "' =1" 'a;b 7' '(3) x'

# --- the service's own words
call_trace_service spawn --trace-dir="traces$bad/spawned" >text 2>said
check plain text said
(cd instrumented && "./$own")
call_trace_service status >text 2>said
check plain text said
call_trace_service status --json >out
check json out
call_trace_service list >out
check tsv out
script -qec "$(printf '%q ' "$BUILD/service/call_trace_service" list)" typescript </dev/null >/dev/null
sed -E 's/\r$//; /^Script /d' typescript >text
check plain text
call_trace_service list --json >out
check json out
call_trace_service stop >text 2>said
check plain text said
for arguments in "$bad" "start --$bad" "start --samples=$bad" "start --instance-id=$bad" \
    "start --trace-dir=/dev/null/$bad" "start --log-file=/dev/null/$bad" "snapshot --output=$bad" \
    "start -- /dev/null/$bad"; do
    mapfile -t -d ' ' words < <(printf '%s' "$arguments")
    call_trace_service "${words[@]}" >text 2>said && fail "$arguments: status 0"
    check plain text said
done
