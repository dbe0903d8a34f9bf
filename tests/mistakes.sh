#!/bin/bash
# The mistakes of somebody who comes from perf, strace, uftrace, valgrind and KCachegrind: for each, the exit
# status, and a message that names the command that was typed, what was wrong, and what was expected or what to
# do. The table tells them apart: STATUS | PATTERN of the message, after the command's name | COMMAND.
# needs: gcc binutils util-linux
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache UMBRA_AGENT=$AGENT BUILD
unset DISPLAY WAYLAND_DISPLAY

# --- what the commands are given
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -O1 hello.c -o hello
gcc -c hello.c -o hello.o
gcc -shared -fPIC hello.c -o hello.so
gcc -O1 hello.c "$TESTS/programs/go_table.S" -o go
: >empty
echo 'hello world' >text
printf '#!/usr/bin/nosuchpython\n' >script.py
head -c 3000 hello >cut
# an ELF header of that class, type and machine, and nothing
elf()
{
    printf "\\177ELF\\$1\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\$2\\0\\$3\\0\\1\\0\\0\\0"
    head -c 4000 /dev/zero
}
elf 1 2 50 >arm
elf 1 2 3 >i386
elf 2 2 267 >aarch64
elf 2 4 76 >core
chmod 755 empty script.py cut arm i386 aarch64 core hello.o
cp hello noexec
chmod 644 noexec
cp hello unreadable
chmod 000 unreadable
mkdir -p folder plain.data no_process.data/traces trees/x
echo x >plain.data/x
instrument hello -o instr >/dev/null
call_trace_service start --trace-dir=traces -- ./instr >/dev/null
mv traces/*.bin good.bin
head -c 6000 good.bin >short.bin
head -c 100 good.bin >head.bin
cp good.bin version.bin
printf '\xff' | dd of=version.bin bs=1 seek=8 conv=notrunc status=none
cp good.bin damaged.bin # counts of its only thread
printf '\xff%.0s' {1..24} | dd of=damaged.bin bs=1 seek=8300 conv=notrunc status=none
umbra record -q -o a.data -- ./hello >/dev/null
umbra record -q -o b.data -- ./hello >/dev/null
cp a.data/recording no_process.data/
call_trace_service spawn --instance-id=served --trace-dir=served --quiet

# The commands, in the shells that run the table's.
for tool in umbra instrument call_trace_service grinder; do export -f "${tool?}"; done
export -f how_options
export AGENT
# As a user who has no rights here; root alone can become it.
as_nobody()
{
    [[ $EUID != 0 ]] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_RUNTIME_DIR= \
        XDG_CACHE_HOME=/nonexistent "$@"
    "$@"
}
export -f as_nobody
mkdir -m 0755 tools others
cp "$BUILD/rewriter/instrument" "$BUILD/grinder/grinder" "$BUILD/service/call_trace_service" tools
cp "$AGENT" tools
chmod 755 "$work" others

# --- the table
cat >table <<'END'
2|umbra: expected a verb: record, report, .*umbra --help|umbra
2|umbra: -p: expected a verb in front of it: .*umbra record -- PROGRAM|umbra -p 1
2|umbra: --tool=callgrind: expected a verb in front of it: .*umbra record -- PROGRAM|umbra --tool=callgrind ./hello
2|umbra: reprot: expected a verb: .*did you mean umbra report\?|umbra reprot
2|umbra: reprot: expected a verb: .*did you mean umbra report\?|umbra help reprot
2|umbra: rec: expected a verb: .*did you mean umbra record\?|umbra rec -- ./hello
2|umbra: stat: expected a verb: .*umbra record -- PROGRAM, then umbra report --text|umbra stat ./hello
2|umbra: annotate: expected a verb: .*umbra report|umbra annotate main
2|umbra: script: expected a verb: .*umbra report --output-format=folded|umbra script
2|umbra: list: expected a verb: .*umbra ls|umbra list
2|umbra: live: expected a verb: .*umbra record -- PROGRAM.*umbra top|umbra live ./hello
2|umbra: replay: expected a verb: .*umbra record --mode=calltrace|umbra replay
2|umbra: attach: expected a verb: .*joins no program that runs|umbra attach 12
2|umbra: stop: expected a verb: .*call_trace_service stop|umbra stop
2|umbra: ./hello: expected a verb: .*umbra record -- ./hello|umbra ./hello
2|umbra: record: expected a program, found none: umbra record .*-- PROGRAM|umbra record
1|umbra record: pid 999999999: there is no such process|umbra record -p 999999999
2|umbra: record: -p x: expected the number of a process|umbra record -p x
2|umbra: record: -t: Umbra samples whole processes: -p PID|umbra record -t 12
2|umbra: record: -a: .*not the whole system: umbra record -- PROGRAM|umbra record -a
2|umbra: record: -e: .*no events of the processor: umbra record -- PROGRAM|umbra record -e cycles ./hello
2|umbra: record: -c: .*-F of them a second|umbra record -c 1000 ./hello
2|umbra: record: -f: what a program starts is recorded, too|umbra record -f ./hello
2|umbra: record: --call-graph: who calls whom is always recorded|umbra record --call-graph dwarf ./hello
2|umbra: record: -z: no such option; see umbra record --help|umbra record -z ./hello
2|umbra: record: -o: expected FOLDER behind it, found nothing|umbra record -o
2|umbra: record: --samples: expected HZ behind it, found nothing|umbra record --samples
2|umbra: record: --smaples=9: no such option \(did you mean --samples\?\)|umbra record --smaples=9 -- ./hello
2|umbra: record: --text: no such option; umbra report has it|umbra record --text -- ./hello
2|umbra: record: --quiet=yes: it takes no value|umbra record --quiet=yes -- ./hello
2|umbra record: --samples=abc: expected a number from 0 to 10000|umbra record --samples=abc -- ./hello
2|umbra record: --samples=99999: expected a number from 0 to 10000|umbra record -F 99999 -- ./hello
2|umbra record: --samples=0: with --timing=samples|umbra record --samples=0 --timing=samples -- ./hello
2|umbra record: --mode=unknown: expected profile, calltrace or samples|umbra record --mode=unknown -- ./hello
2|umbra record: --timing=often: expected adaptive, exact, samples or none|umbra record --timing=often -- ./hello
2|umbra: --count=cycles: expected blocks or instructions|umbra record --count=cycles -- ./hello
2|umbra: record: --count=instructions: .*leave --timing=exact out|umbra record --count=instructions --timing=exact ./hello
2|umbra: --how=copies: expected prologue, copy, auto or samples|umbra record --how=copies -- ./hello
2|umbra record: --ring-size.* go with --mode=calltrace|umbra record --ring-size=64M -- ./hello
2|umbra record: --max-trace-size=big: expected bytes from 64K to 256G|umbra record --max-trace-size=big -- ./hello
2|umbra: --children=maybe: expected yes or no|umbra record --children=maybe -- ./hello
2|umbra: record: --exclude=: expected a value behind it|umbra record --exclude= -- ./hello
2|umbra: --filter=nosuch: cannot be read: No such file|umbra record --filter=nosuch -- ./hello
0|umbra: --exclude=nosuch matches nothing in what was recorded|umbra record --exclude=nosuch -- ./hello
0|umbra: --time=nosuch matches nothing in what was recorded|umbra record --time=nosuch -- ./hello
127|umbra: nosuch: there is no such program|umbra record nosuch
127|umbra: hello: there is no such program; the file here is ./hello|umbra record hello
127|umbra: FOO=1: there is no such program; .*umbra record -- env FOO=1|umbra record FOO=1 ./hello
127|umbra: ./hello 1 2: there is no such program; without the quotation marks|umbra record "./hello 1 2"
126|umbra: ./folder: cannot be executed: it is a folder|umbra record ./folder
126|umbra: ./noexec: cannot be executed: Permission denied|umbra record ./noexec
127|umbra: ./script.py: cannot be run: its first line names /usr/bin/nosuchpython|umbra record ./script.py
126|umbra: ./i386: cannot be run: Exec format error|umbra record ./i386
126|umbra: ./aarch64: cannot be run: it is for another processor, and only|umbra record ./aarch64
126|umbra: ./hello.o: cannot be run: it is an object file.*linked|umbra record ./hello.o
126|umbra: ./core: cannot be run: it is a core dump, and no program|umbra record ./core
139|umbra: .*/hello.so: .*SIGSEGV.*no library|umbra record ./hello.so
139|umbra: .*/cut: truncated: program header|umbra record ./cut
0|umbra: .*/go: .*found a Go program.*use Go's own profiler|umbra record ./go
0|umbra: .*/instr: left as it is: .*already instrumented|umbra record ./instr
1|umbra: folder: expected a recording or nothing there.*-o|umbra record -o folder -- ./hello
1|umbra: text: expected a recording or nothing there.*-o|umbra record -o text -- ./hello
1|umbra: hello: expected a recording or nothing there.*-o|umbra record -o hello -- ./hello
0|umbra: nowhere/x.data: cannot be made: No such file.*not recorded|umbra record -o nowhere/x.data -- ./hello
1|umbra: umbra.data: No such file.*umbra record -- PROGRAM|cd trees; umbra report
1|umbra: x.data: No such file.*umbra record -- PROGRAM|umbra report -i x.data
1|umbra: plain.data: expected a folder that umbra record made, found another folder; .*grinder --mode=report|umbra report plain.data
1|umbra: good.bin: expected a folder that umbra record made, found another file; .*grinder --mode=report|umbra report good.bin
1|umbra: no_process.data: no process was recorded; .*umbra ls --left|umbra report no_process.data
2|umbra report: --stdio: unknown option; see umbra report --help|umbra report --stdio a.data
2|umbra report: --txt: unknown option \(did you mean --text\?\)|umbra report --txt a.data
2|umbra: report: -n: no such option; see umbra report --help|umbra report -n a.data
2|umbra: report: expected 1 recording at most, found another: a.data; an option's value stands behind =|umbra report --sort self a.data
2|umbra report: --sort: expected self, inclusive, calls, wait, p99 or instructions, found unknown|umbra report --text --sort=unknown a.data
2|umbra report: --sort is for the summary: umbra report --text|umbra report --sort=self a.data
2|umbra report: --top: expected a number from 0 to 1000000, found -1|umbra report --text --top=-1 a.data
1|umbra report: --process=nobody: expected a process of that pid or executable, found none|umbra report --process=nobody a.data
1|umbra report: --function=nosuch: expected a function of that name, found none|umbra report --function=nosuch a.data
2|umbra: report: --output-format=text: .*umbra report --text|umbra report --output-format=text a.data
2|umbra: report: -p: expected a recording: .*umbra record -p PID|umbra report -p 1 a.data
2|umbra report: --output-format: .*does not have xyz, but callgrind, folded|umbra report --output-format=xyz a.data
2|umbra report: --output-format=chrome needs a call-trace recording \(umbra record --mode=calltrace\)|umbra report --output-format=chrome a.data
2|umbra report: --mode: expected profile, .* found unknown|umbra report --mode=unknown a.data
2|umbra report: --weight: expected ns, calls or instructions, found bytes|umbra report --weight=bytes a.data
1|umbra report: folder: cannot be written: it is a folder; name a file in it|umbra report -o folder a.data
1|umbra report: nowhere/x.html: cannot be written: No such file|umbra report -o nowhere/x.html a.data
2|umbra report: --output-file=parts/: expected a file's name, which each thread's begins with|umbra report --output-format=callgrind --split -o parts/ a.data
2|umbra report: --debug-dir=nosuch: expected a folder, found none|umbra report --debug-dir=nosuch a.data
1|umbra: umbra.data.old: No such file.*umbra record -- PROGRAM|cd trees; umbra diff
2|umbra: diff: expected two recordings, found one: umbra diff BEFORE AFTER|umbra diff a.data
1|umbra: x.data: No such file.*umbra record -- PROGRAM|umbra diff a.data x.data
2|umbra diff: --output-format: .*does not have callgrind, but table, |umbra diff --output-format=callgrind a.data b.data
2|umbra diff: --threshold: expected a percentage of 0 or more, found much|umbra diff --threshold=much a.data b.data
2|umbra: top: -p: expected a recording: .*--process=PID chooses one|umbra top -p 12
1|umbra: a.data: none of its programs runs any more; .*umbra report a.data|umbra top a.data
1|umbra: nosuch: No such file|umbra ls nosuch
0|umbra: folder: no recording is in this folder; .*umbra record -- PROGRAM|umbra ls folder
2|umbra: ls: -l: no such option; see umbra ls --help|umbra ls -l
2|umbra: cache: expected an option, --clear or --limit=SIZE, found clear|umbra cache clear
2|umbra: --limit=much: expected bytes.*--limit=2G|umbra cache --limit=much
2|umbra: bisect: expected a program, found none: umbra bisect .*-- PROGRAM|umbra bisect
1|umbra: it does not fail when it is recorded: .*--check=COMMAND|umbra bisect -- ./hello
2|instrument: expected the image to instrument, found no FILE|instrument
2|instrument: hello: expected -o OUT|instrument hello
2|instrument: out: expected one FILE, found another|instrument hello out
2|instrument: --output=out: unknown option \(did you mean -o OUT\?\)|instrument --output=out hello
2|instrument: --hwo=copy: unknown option \(did you mean --how\?\)|instrument --hwo=copy hello -o out
2|instrument: unknown: expected --how=copy, prologue or auto|instrument --how=unknown hello -o out
1|instrument: nosuch: cannot read it: No such file|instrument nosuch -o out
1|instrument: empty: expected an ELF image, found an empty file|instrument empty -o out
1|instrument: text: expected an ELF program or library for x86-64 or i386, found another kind|instrument text -o out
1|instrument: script.py: expected an ELF .* found a script; instrument its interpreter|instrument script.py -o out
1|instrument: arm: expected an ELF .* for x86-64 or i386, found one for arm|instrument arm -o out
1|instrument: hello.o: expected an ELF .* found a relocatable object; link it first|instrument hello.o -o out
1|instrument: core: expected an ELF .* found a core dump|instrument core -o out
1|instrument: cut: truncated: program header|instrument cut -o out
1|instrument: go: .*found a Go program.*use Go's own profiler|instrument go -o out
1|instrument: instr: expected an original image, found one that is already instrumented|instrument instr -o out
1|instrument: trees: expected programs or libraries to instrument, found none|instrument trees -o out
1|instrument: hello: expected another file than the original, found that itself|instrument hello -o hello --overwrite
1|instrument: instr: expected a new file, found one that exists; --overwrite replaces it|instrument hello -o instr
1|instrument: folder: expected a file to write, found a directory; name a file in it|instrument hello -o folder
1|instrument: nowhere/out: cannot write there: No such file|instrument hello -o nowhere/out
1|instrument: nosuch: cannot read the agent: No such file|"$BUILD/rewriter/instrument" --agent=nosuch hello -o out
0|instrument: warning: --exclude=nosuch matches nothing|instrument --exclude=nosuch hello -o trees/excluded
1|instrument: text: line 1: expected 'include PATTERN' or 'exclude PATTERN'|instrument --filter=text hello -o out
1|instrument: hello: expected an instrumented image, found one that is not|instrument --verify hello
1|instrument: .*(too large|No space)|trap "" XFSZ; ulimit -f 8; instrument hello -o out
2|call_trace_service: no verb: expected start, spawn, |call_trace_service
2|call_trace_service: strat: expected start, .*did you mean start\?|call_trace_service strat
2|call_trace_service: ./instr: unexpected argument; put -- before|call_trace_service start ./instr
2|call_trace_service: --: expected a command behind it|call_trace_service start --
2|call_trace_service: -- ./instr: only start takes a command|call_trace_service spawn -- ./instr
127|call_trace_service: nosuch: cannot run the command: No such file|call_trace_service start -- nosuch
126|call_trace_service: ./folder: cannot run the command: it is a folder|call_trace_service start -- ./folder
127|call_trace_service: ./script.py: cannot run the command: the interpreter that it names is not there|call_trace_service start -- ./script.py
0|call_trace_service: ./hello: expected a program to record, found none: it is not instrumented|call_trace_service start -- ./hello
2|call_trace_service: --trace-dri=x: unknown option \(did you mean --trace-dir\?\)|call_trace_service start --trace-dri=x
2|call_trace_service: --json=yes: unexpected value, --json takes none|call_trace_service status --json=yes
2|call_trace_service: --pid: what runs already can only be sampled: --mode=samples|call_trace_service start --pid=1
1|call_trace_service: text: cannot open the trace directory: Not a directory|call_trace_service start --trace-dir=text -- ./instr
1|call_trace_service: nowhere/x: cannot make the trace directory: No such file|call_trace_service start --trace-dir=nowhere/x -- ./instr
2|call_trace_service: a/b: as an instance id, expected up to 63 letters|call_trace_service status --instance-id=a/b
1|call_trace_service: instance served: .*already served|call_trace_service start --instance-id=served
1|call_trace_service: instance nobody: not running; start it, or name another|call_trace_service stop --instance-id=nobody
1|call_trace_service: instance nobody: not running; start it, or name another|call_trace_service list --instance-id=nobody
1|call_trace_service: instance nobody: not running; start it, or name another|call_trace_service snapshot --instance-id=nobody
1|call_trace_service: instance nobody: not running; start it, or name another|call_trace_service top --instance-id=nobody
1|call_trace_service: --pid=1: expected one running session, found 0; see list|call_trace_service snapshot --instance-id=served --pid=1
1|call_trace_service: --session=7: expected a running session, found none|call_trace_service pause --instance-id=served --session=7
2|call_trace_service: --interval=0: expected seconds from 0.1 to 3600|call_trace_service top --instance-id=served --interval=0
1|umbra: UMBRA_REQUIRED=1, but no call_trace_service answers.*start one|UMBRA_REQUIRED=1 ./instr
2|grinder: expected --mode=profile, summary, .*found no --mode|grinder good.bin
2|grinder: --mode: expected profile, summary, .*found summray|grinder --mode=summray good.bin
2|grinder: expected a trace file, found none|grinder --mode=summary
2|grinder: --outptu-file=x: unknown option \(did you mean --output-file\?\)|grinder --mode=profile --outptu-file=x good.bin
2|grinder: -o: unknown option \(did you mean --output-file=FILE\?\)|grinder --mode=profile -o x good.bin
1|grinder: nosuch.bin: cannot be opened: No such file|grinder --mode=summary nosuch.bin
1|grinder: text: not a trace file: expected it to begin with UMBRATRC|grinder --mode=summary text
1|grinder: hello: not a trace file: expected it to begin with UMBRATRC|grinder --mode=summary hello
1|grinder: empty: cut off in its header: expected at least 4096 bytes, found 0|grinder --mode=summary empty
1|grinder: head.bin: cut off in its header: expected at least 4096 bytes, found 100|grinder --mode=summary head.bin
1|grinder: short.bin: cut off: expected [0-9]+ bytes more at its end|grinder --mode=summary short.bin
1|grinder: damaged.bin: thread 1: expected entries = exits \+ unwound \+ live, found|grinder --mode=summary damaged.bin
1|grinder: version.bin: header: expected trace version [0-9]+, found 255; use the grinder of the release|grinder --mode=summary version.bin
1|grinder: text: not a trace file|grinder --mode=summary good.bin text
1|grinder: folder: expected a trace file or a folder with traces, found no .bin|grinder --mode=summary folder
1|grinder: a.data: .*found no .bin in it; they are in a.data/traces, and umbra report a.data|grinder --mode=summary a.data
2|grinder: --mode=diff: expected 2 recordings, found 1|grinder --mode=diff good.bin
2|grinder: text: not a trace file|grinder --mode=diff good.bin text
2|grinder: --output-file=good.bin: expected a file to write, found a trace; name another|grinder --mode=profile --output-file=good.bin good.bin
1|grinder: folder: cannot be written: it is a folder|grinder --mode=profile --output-file=folder good.bin
2|grinder: --output-format: --mode=stack does not have xyz, but table, tsv, json|grinder --mode=stack --output-format=xyz good.bin
2|grinder: --mode=summary has no --output-format|grinder --mode=summary --output-format=json good.bin
1|grinder: --process=nobody: expected a process of that pid or executable, found none|grinder --mode=summary --process=nobody good.bin
2|grinder: --split and --merged exclude each other|grinder --mode=profile --split --merge good.bin
END
if ((EUID == 0)) && as_nobody tools/grinder --version >/dev/null 2>&1; then
    cp -r a.data others/their.data
    chown -R 65534:65534 others/their.data
    cat >>table <<'END'
1|instrument: unreadable: cannot read it: Permission denied|as_nobody tools/instrument --agent="$AGENT" unreadable -o out
1|instrument: folder/out: cannot write there: Permission denied|as_nobody tools/instrument --agent=tools/libhooks.so hello -o folder/out
1|call_trace_service: folder/traces: cannot make the trace directory: Permission denied|as_nobody tools/call_trace_service start --trace-dir=folder/traces -- ./hello
1|umbra: others/their.data: is another user's; say where to write: -o FILE|umbra report --output-format=json others/their.data
1|grinder: good.bin: cannot be opened: Permission denied|chmod 600 good.bin; as_nobody tools/grinder --mode=summary good.bin
END
else
    echo 'skipped: another user, for want of rights'
fi

# --- each of them
count=0
while IFS='|' read -r expected pattern command; do
    [[ $expected == [0-9]* ]] || fail "no line of the table: $expected|$pattern|$command"
    # A pattern may hold | itself: the command is what is behind the last one.
    pattern=$pattern${command:+|$command}
    command=${pattern##*|}
    pattern=${pattern%|*}
    status=0
    timeout -k 2 20 bash -c "$command" >said 2>error </dev/null || status=$?
    equal "$command: status, '$(<error)'" "$status" "$expected"
    grep -Eq -- "^$pattern" error || fail "$command: '$(<error)' does not match '$pattern'"
    (($(grep -c '^umbra\|^instrument\|^call_trace_service\|^grinder' error) <= 2)) ||
        fail "$command: more than two lines: $(<error)"
    [[ ! -e out ]] || fail "$command: left a file"
    # What is shown in spite of it is of a trace, a recording or a program.
    ((status != 2)) || [[ ! -s said ]] || fail "$command: said on standard output: $(<said)"
    count=$((count + 1))
done <table
((count >= 66)) || fail "$count mistakes"
echo "$count mistakes"
