#!/bin/bash
# Time lines of call-trace recordings hold the calls and the time of the summary, as read by readers
# that are not ours; events and trees have the same counts; losses are gaps, and the rest balances.
# needs: g++ jq gawk protobuf-compiler
# seconds: 20
. "$(dirname "$0")/lib.sh"

# trace FOLDER PROGRAM ARGUMENT…
trace()
{
    local folder=$1 program=$2
    shift 2
    rm -rf "$folder"
    (cd instrumented && call_trace_service start --mode=calltrace --ring-size=256M \
        --trace-dir="$work/$folder" -- "./$program" "$@") >output
}

# What the public schema numbers so (perfetto_trace.proto).
cat >perfetto.proto <<'END'
syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
    optional uint64 timestamp = 8;
    optional uint32 trusted_packet_sequence_id = 10;
    optional TrackEvent track_event = 11;
    optional InternedData interned_data = 12;
    optional uint32 sequence_flags = 13;
    optional TrackDescriptor track_descriptor = 60;
}
message TrackEvent {
    repeated DebugAnnotation debug_annotations = 4;
    enum Type { UNSPECIFIED = 0; BEGIN = 1; END = 2; INSTANT = 3; }
    optional Type type = 9;
    optional uint64 name_iid = 10;
    optional uint64 track_uuid = 11;
    optional string name = 23;
}
message DebugAnnotation { optional string name = 10; optional string string_value = 6; }
message InternedData { repeated EventName event_names = 2; }
message EventName { optional uint64 iid = 1; optional string name = 2; }
message TrackDescriptor {
    optional uint64 uuid = 1;
    optional string name = 2;
    optional ProcessDescriptor process = 3;
    optional ThreadDescriptor thread = 4;
    optional uint64 parent_uuid = 5;
}
message ProcessDescriptor { optional int32 pid = 1; optional string process_name = 6; }
message ThreadDescriptor {
    optional int32 pid = 1;
    optional int32 tid = 2;
    optional string thread_name = 5;
}
END

# Each of these readers prints `calls ns`, of the outermost calls, and leaves `name<TAB>calls` of
# each function in read.functions; what does not nest, or goes back in time, is an error.
cat >readers.py <<'END'
import collections, json, re, sys

def totals(events):
    """events: (thread, ns, name or None for an end), those of a thread in order"""
    stacks, last, counts, ns = collections.defaultdict(list), {}, collections.Counter(), 0
    for thread, now, name in events:
        assert now >= last.get(thread, 0), f"{thread}: back in time at {now}"
        last[thread] = now
        if name is not None:
            stacks[thread].append(now)
            counts[name] += 1
            continue
        begin = stacks[thread].pop()
        if not stacks[thread]:
            ns += now - begin
    assert not any(stacks.values()), "calls without an end"
    with open("read.functions", "w") as file:
        for name, count in sorted(counts.items()):
            print(name, count, sep="\t", file=file)
    print(sum(counts.values()), ns)

def chrome(file):
    trace = json.load(file, parse_float=lambda text: int(text.replace(".", "")))
    names = set()
    for event in trace["traceEvents"]:
        thread = (event["pid"], event["tid"])
        if event["ph"] == "M":
            names.add((event["name"], *thread))
            assert event["args"]["name"]
        elif event["ph"] == "I":
            assert event["s"] == "t" and "events lost" in event["name"]
        else:
            assert event["ph"] in "BE" and ("thread_name", *thread) in names, event
            assert ("process_name", event["pid"], 0) in names, event
            yield thread, event["ts"], event["name"] if event["ph"] == "B" else None

def perfetto(file):
    """protoc's text format, a packet at a time"""
    names, tracks, has_begun = {}, {}, False
    for packet in re.split(r"^packet \{\n", file.read(), flags=re.M)[1:]:
        def field(name, indent="  "):
            found = re.search(rf"^{indent}{name}: (.*)$", packet, re.M)
            return found and found[1]
        assert not re.search(r"^ *\d+: ", packet, re.M), "a field the schema does not have"
        if "track_descriptor {" in packet:
            tracks[field("uuid", " +")] = field("parent_uuid", " +")
            assert ("process {" in packet) != ("thread {" in packet)
            continue
        for iid, name in re.findall(r"iid: (\d+)\n *name: (\".*\")", packet):
            assert iid not in names, "a name that was interned twice"
            names[iid] = json.loads(name)
        flags = int(field("sequence_flags"))
        assert flags == (2 if has_begun else 3)
        assert field("trusted_packet_sequence_id") == "1"
        has_begun = True
        track, kind = field("track_uuid", "    "), field("type", "    ")
        assert tracks[tracks[track]] is None
        if kind != "INSTANT":
            yield track, int(field("timestamp")), \
                names[field("name_iid", "    ")] if kind == "BEGIN" else None

def firefox(file):
    profile = json.load(file, parse_float=lambda text: int(text.replace(".", "")))
    assert profile["meta"]["preprocessedProfileVersion"] == 48 and profile["libs"] == []
    def column(table, name, below=None):
        values = table[name]
        assert len(values) == table["length"], name
        assert below is None or all(v is None or -1 < v < below for v in values), name
        return values
    assert profile["meta"]["interval"] == 1, "ns, beyond which its reader does not zoom"
    mains = [thread["pid"] for thread in profile["threads"] if thread["isMainThread"]]
    assert len(mains) == len(set(mains)), "processes that its reader takes for one"
    ns, met = 0, set()
    for thread in profile["threads"]:
        samples, stacks, frames, functions, markers = (thread[name] for name in (
            "samples", "stackTable", "frameTable", "funcTable", "markers"))
        strings = thread["stringArray"]
        assert isinstance(thread["pid"], str) and isinstance(thread["tid"], int)
        assert samples["weightType"] == "tracing-ms" and thread["resourceTable"]["length"] == 0
        column(stacks, "frame", frames["length"])
        column(frames, "func", functions["length"])
        for name in ("category", "subcategory"):
            column(stacks, name, 1), column(frames, name, 1)
        for i, prefix in enumerate(column(stacks, "prefix")):
            assert prefix is None or prefix < i
        for name in ("address", "inlineDepth", "nativeSymbol", "innerWindowID", "line", "column"):
            column(frames, name)
        for name in ("isJS", "relevantForJS", "resource", "lineNumber", "columnNumber"):
            column(functions, name)
        column(functions, "fileName", len(strings))
        for name in ("startTime", "endTime", "data", "phase", "category"):
            column(markers, name)
        assert all(strings[name] == "events lost" for name in column(markers, "name"))
        met |= {strings[name] for name in column(functions, "name", len(strings))}
        at = None
        for stack, time, weight in zip(column(samples, "stack", stacks["length"]),
                                       column(samples, "time"), column(samples, "weight")):
            assert at is None or time == at, "a stretch that is missing"
            at = time + weight
            ns += weight if stack is not None else 0
        assert stack is None and not weight, "a last stretch that its reader lets end at once"
        assert thread["registerTime"] <= thread["unregisterTime"] == time
    with open("read.functions", "w") as file:
        print(*sorted(met), sep="\n", file=file)
    print(ns)

if sys.argv[1] == "firefox":
    firefox(sys.stdin)
else:
    totals(globals()[sys.argv[1]](sys.stdin))
END

# line_totals COLUMN…: of the summary's tables of events, each added up
line_totals()
{
    gawk -v wanted="$*" '
        $1 == "thread" && $2 == "entered" {
            gsub("ns in calls", "ns")
            for (i = 1; i <= NF; i++)
                column[$i] = i
            inside = 1
            next
        }
        NF == 0 { inside = 0 }
        inside { for (name in column) sum[name] += $column[name] }
        END {
            if (!("entered" in column)) exit 1
            count = split(wanted, names, " ")
            for (i = 1; i <= count; i++)
                printf("%s%d", (i > 1 ? " " : ""), sum[names[i]])
            print ""
        }' summary
}

# functions_of_tree OPTION…: name<TAB>calls, by the trees
functions_of_tree()
{
    grinder --mode=profile --output-format=tsv --output-file=- "$@" "$traces" | gawk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { calls[$column["function"]] += $column["calls"] }
        END { for (name in calls) if (calls[name]) print name "\t" calls[name] }' | LC_ALL=C sort
}

# read_line FORMAT OPTION…: what its reader says
read_line()
{
    local format=$1
    shift
    grinder --mode=profile --output-format="$format" --output-file=line "$@" "$traces" ||
        fail "$format of $traces: status $?"
    if [[ $format == perfetto ]]; then
        protoc --decode=Trace perfetto.proto <line >decoded
        mv decoded line
    fi
    /usr/bin/python3 readers.py "$format" <line
}

# all_equal OPTION…: every format has the calls of the trees and the time of the summary
all_equal()
{
    local what="$traces $*" format ns calls
    grinder --mode=summary "$@" "$traces" >summary 2>problems || fail "$what: $(<problems)"
    ns=$(line_totals ns)
    functions_of_tree "$@" >tree.functions
    calls=$(gawk -F '\t' '{ sum += $2 } END { print sum }' tree.functions)
    ((calls > 0 && ns > 0)) || fail "$what: nothing was selected"
    for format in chrome perfetto; do
        equal "$what: $format" "$(read_line $format "$@")" "$calls $ns"
        LC_ALL=C sort read.functions | diff - tree.functions >problems ||
            fail "$what: calls in $format (<) and in the trees (>): $(<problems)"
    done
    equal "$what: firefox" "$(read_line firefox "$@")" "$ns"
    cut -f 1 tree.functions | LC_ALL=C sort -u >names
    LC_ALL=C sort read.functions | diff - names >problems ||
        fail "$what: functions in firefox (<) and in the trees (>): $(<problems)"
}

# Nothing was lost: all that the summary says about losses is absent.
whole()
{
    ! grep -qE '^  (dropped|torn|removed|CUT OFF) ' summary || fail "$traces: $(<summary)"
    ! grep -qE ' (BROKEN|losses|cut) ' summary || fail "$traces: $(<summary)"
}

for source in formats.cpp exceptions.cpp thread_ends.c tail_calls.c coroutines.c jumps.c phases.c; do
    build "${source%.*}" "$source" -O1 -foptimize-sibling-calls -DROUNDS=50
    instrumented "${source%.*}"
done

# Threads, a fork; every selection.
trace lines formats 300 30
traces=lines
all_equal
whole
equal "entries, ends, open" "$(line_totals entered returned unwound open closed orphans)" \
    "$(gawk '{ sum += $2 } END { print sum, sum, 0, 0, 0, 0 }' FS='\t' tree.functions)"
parent=$(grinder --mode=profile --output-format=json --output-file=- "$traces" |
    jq -r '.processes[] | select(.fork_of_pid == 0) | .pid')
for option in --process="$parent" --thread=2 --function='space::parse' --function='*leaf*'; do
    all_equal "$option"
done

# Processes of one pid are as many.
mkdir twice
for file in lines/*; do
    ln "$file" "twice/one-${file##*/}"
    ln "$file" "twice/other-${file##*/}"
done
traces=twice
all_equal
traces=lines

# firefox by part, or by calls, is what it is of a profile.
read -r ns calls < <(sed -n 's/^totals: \([0-9]*\) ns \([0-9]*\) calls .*/\1 \2/p' summary)
grinder --mode=profile --output-format=firefox --merge --output-file=line "$traces"
equal "threads, merged" "$(jq '.threads | length' line)" 1
equal "ns of these" "$(/usr/bin/python3 readers.py firefox <line)" $((ns / 2))
grinder --mode=profile --output-format=firefox --weight=calls --output-file=line "$traces"
equal "calls by weight" "$(jq '[.threads[].samples.weight[]] | add' line)" $((calls / 2))

# A range of time: its calls begin and end within it, and two that meet are the whole.
grinder --mode=summary "$traces" >summary
ns=$(line_totals ns)
grinder --mode=profile --output-format=chrome --output-file=line "$traces"
middle=$(jq '[.traceEvents[] | select(.ph == "B") | .ts] | sort | .[length / 2 | floor]' line)
seconds=$(gawk -v us="$middle" 'BEGIN { printf "%.9f", us / 1e6 }')
read -r _ before < <(read_line chrome --to="$seconds")
equal "latest before $seconds s" \
    "$(jq "[.traceEvents[] | select(.ts > $middle)] | length" line)" 0
read -r _ after < <(read_line chrome --from="$seconds")
equal "earliest from $seconds s" \
    "$(jq "[.traceEvents[] | select(.ts and .ts < $middle)] | length" line)" 0
equal "time before and after $seconds s" $((before + after)) "$ns"
((before > 0 && after > 0)) || fail "$seconds s is not in the middle"

# Frames that vanish: exceptions, cancelled threads, longjmp. Calls without a return are counted,
# and nothing else is amiss.
for program in exceptions thread_ends tail_calls; do
    trace $program $program
    traces=$program
    if [[ $program == tail_calls ]]; then # a million of them: enough to count
        grinder --mode=summary "$traces" >summary
        equal "tail calls" "$(line_totals entered)" \
            "$(functions_of_tree | gawk -F '\t' '{ sum += $2 } END { print sum }')"
    else
        all_equal
    fi
    whole
    equal "$program: closed, orphans" "$(line_totals closed orphans)" "0 0"
done
traces=exceptions
grinder --mode=summary "$traces" >summary
(($(line_totals unwound) > 0)) || fail "exceptions unwound nothing"

# Coroutines: entries are exact; a call that a switch of stacks left is closed, its end an orphan.
trace coroutines coroutines
traces=coroutines
grinder --mode=summary "$traces" >summary
whole
read -r entered returned unwound open closed orphans < \
    <(line_totals entered returned unwound open closed orphans)
((entered - returned - unwound == open + closed - orphans)) || fail "$(<summary)"
((closed > 0 && orphans > 0)) || fail "coroutines switch no stacks: $(<summary)"

# Signals and siglongjmp at any instruction, where a few events are torn.
trace jumps jumps
traces=jumps
grinder --mode=summary "$traces" >summary
read -r calls _ < <(read_line chrome --function=nest)
((calls > 0)) || fail "nest was not entered"

# A service that stands still while a storm goes through a ring of sixteen segments: what is lost is
# counted, shown as a gap, and the rest balances; behind it the calls are right again.
mkfifo input
"$BUILD/service/call_trace_service" start --mode=calltrace --ring-size=1M \
    --trace-dir="$work/lossy" >service.out 2>&1 &
service=$!
started+=("$service")
until call_trace_service status >/dev/null 2>&1; do sleep 0.05; done
instrumented/phases <input >phases.out &
program=$!
started+=("$program")
exec 3>input
until grep -q worked phases.out; do sleep 0.05; done
kill -STOP "$service"
echo >&3
until grep -q stormed phases.out; do sleep 0.05; done
kill -CONT "$service"
until call_trace_service status >/dev/null 2>&1; do sleep 0.05; done
before=0 after=$(stat -c %s lossy/*.events)
until ((after > 64 && before == after)); do # the ring is drained
    sleep 0.5
    before=$after
    after=$(stat -c %s lossy/*.events)
done
echo >&3
exec 3>&-
wait "$program"
call_trace_service stop >/dev/null
traces=lossy
grinder --mode=summary "$traces" >summary
contains summary '^  dropped   [0-9]+ events'
contains summary ' losses '
events=$(sed -n 's/^  events    \([0-9]*\) .*/\1/p' summary)
dropped=$(sed -n 's/^  dropped   \([0-9]*\) .*/\1/p' summary)
calls=$(functions_of_tree | gawk -F '\t' '{ sum += $2 } END { print sum }')
equal "events and losses" $((events + dropped)) $((2 * calls))
equal "what chrome holds" "$(read_line chrome)" "$(line_totals entered ns)"
jq -e '[.traceEvents[] | select(.ph == "I") | .name] | any(endswith(" events lost"))' line >gaps
equal "what perfetto holds" "$(read_line perfetto)" "$(line_totals entered ns)"
equal "what firefox holds" "$(read_line firefox)" "$(line_totals ns)"
lost=$(jq '[.threads[].markers.data[].events] | add' line) # but those at the end, of no place
((lost > 0 && lost <= dropped)) || fail "firefox says $lost events were lost, not $dropped"

# Profiles are read as ever, and have all calls.
equal "calls of leaf" "$(functions_of_tree | sed -n 's/^leaf\t//p')" 1100010

# What is refused.
refused()
{
    local status=0
    grinder --mode=profile --output-file=none "$@" lines 2>problems || status=$?
    equal "status of $*" "$status" 2
    [[ ! -e none ]] || fail "$* left a file"
}
refused --output-format=chrome --merge
contains problems '--merge and --split are not for it'
refused --output-format=perfetto --split
refused --output-format=tsv --from=1
contains problems '--from and --to are for'
refused --output-format=firefox --from=1 --merge
contains problems 'no --merge, --split or --weight=calls'
refused --output-format=chrome --from=2 --to=1
refused --output-format=chrome --to=x
contains problems 'expected seconds'

# A chunk that is damaged in the middle: said, and what was before it is written, whole.
events=$(echo lossy/*.events)
printf '\377\377\377' | dd of="$events" bs=1 seek=$(($(stat -c %s "$events") / 2)) conv=notrunc \
    status=none
status=0
grinder --mode=summary lossy >summary 2>problems || status=$?
equal "status of a damaged file" "$status" 1
contains problems 'events: chunk at [0-9]+: expected '
status=0
grinder --mode=profile --output-format=chrome --output-file=line lossy 2>problems || status=$?
equal "status of its time line" "$status" 1
/usr/bin/python3 readers.py chrome <line >/dev/null
