#!/bin/bash
# call_trace_service attach: the calls of a program that runs and was never instrumented are recorded from then on,
# and it goes on as if nothing had been. When the hooks are out, its code is what it was.
# needs: gcc g++ lua5.4
# seconds: 40
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"


ends()
{
    local status=0
    kill -TERM "$pid"
    wait "$job" || status=$?
    equal "status of the program" "$status" 0
}

# The code of each image in memory is the file's.
same_code()
{
    python3 - "$pid" <<'END' || fail "the code is not what it was"
import sys
memory = open(f"/proc/{sys.argv[1]}/mem", "rb")
wrong = 0
for line in open(f"/proc/{sys.argv[1]}/maps"):
    fields = line.split(maxsplit=5)
    if "x" not in fields[1] or len(fields) < 6 or not fields[5].startswith("/"):
        continue
    path = fields[5].strip()
    start, end = (int(number, 16) for number in fields[0].split("-"))
    memory.seek(start)
    with open(path, "rb") as file:
        file.seek(int(fields[2], 16))
        there = memory.read(end - start)
        meant = file.read(end - start)
    if there[:len(meant)] != meant:
        print(path, sum(a != b for a, b in zip(there, meant)), "bytes")
        wrong += 1
sys.exit(wrong != 0)
END
}

# Nothing of ours is mapped in the process.
gone()
{
    awk '$6 ~ /libattach|images-|memfd:/ || ($2 ~ /x/ && $6 == "")' "/proc/$pid/maps" >left
    [[ ! -s left ]] || fail "left in the process: $(<left)"
}

# turns COUNT: the idle program does what it does that often
turns()
{
    local before
    for ((turn = 0; turn < $1; turn++)); do
        before=$(grep -c '^turn' said || true)
        kill -USR1 "$pid"
        for ((try = 0; try < 1000; try++)); do
            (($(grep -c '^turn' said || true) > before)) && break
            sleep 0.01
        done
    done
}

# calls FUNCTION: how often it was called
calls()
{
    awk -F '\t' -v name="$1" 'index($4, name "(") == 1 { sum += $8 } END { print sum + 0 }' functions
}

g++ -O1 -g -pthread "$TESTS/programs/attached.cpp" -o busy

echo '-- each call counts'
for timing in samples adaptive exact none; do
    rm -rf traces before
    runs ./busy idle
    turns 2
    attached --timing=$timing
    contains attach.log 'process '"$pid"': [0-9]+ functions of [2-9] images are hooked; it stood still'
    turns 3
    contains said ', gs [1-9a-f]' # the agent's, while it records
    detached
    gone
    turns 2
    tail -n 1 said >last
    contains last ", gs 0$"
    same_code
    mv traces before
    attached --timing=$timing
    turns 3
    detached
    gone
    turns 2
    same_code
    ends
    "$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions before/*.bin
    equal "calls of fib, $timing, the first time" "$(calls fib)" $((3 * 10 * 177))
    "$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions traces/*.bin
    "$BUILD/grinder/grinder" --mode=summary traces/*.bin >summary
    contains summary 'state +running; attach let go of it'
    equal "calls of fib, $timing" "$(calls fib)" $((3 * 10 * 177))
    equal "calls of throws, $timing" "$(calls throws)" $((3 * 4))
    equal "calls of catches, $timing" "$(calls catches)" 3
    balanced
done
contains functions 'attached.cpp'
"$BUILD/grinder/grinder" --mode=profile --output-file=callgrind traces/*.bin
for output in functions summary callgrind; do # by the files that the program has mapped, and not by ours
    contains "$output" "$work/busy"
    contains "$output" '/libc[.]so[.]6'
    ! grep 'images-' "$output" || fail "$output names files beside the traces"
done

echo '-- call-trace mode'
rm -rf traces
runs ./busy idle
attached --mode=calltrace --include='fib*' --exclude='*std*'
turns 1
detached
ends
"$BUILD/grinder/grinder" --mode=profile --output-format=chrome --output-file=events.json traces/*.bin
equal "begins of fib" "$(grep -o '"ph":"[BX]"[^}]*"fib(int)"\|"name":"fib(int)"[^}]*"ph":"[BX]"' events.json | wc -l)" 1770

echo '-- amid everything'
for round in 1 2 3; do
    rm -rf traces
    runs ./busy
    attached
    sleep 0.5
    "$service" detach "$pid" >stopped || fail "detach: status $?"
    ! kill -0 "$attaching" 2>/dev/null || fail "detach came back before attach had ended"
    gone
    same_code
    sleep 0.2
    ends
    equal "round $round" "$(tail -n 1 said)" "all came back, threads, processes and signals"
    "$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions traces/*.bin 2>problems ||
        { cat problems >&2; fail "the grinder failed"; }
    (($(calls fib) > 10000 && $(calls throws) > 100)) || fail "hardly any call: $(grep -c . functions) lines"
done

echo '-- again and again'
rm -rf traces
runs ./busy
"$service" start --instance-id=cycles --trace-dir=traces --timing=samples 2>service.log &
served=$!
started+=($!)
socket=$XDG_RUNTIME_DIR/umbra/cycles.socket
until [[ -S $socket ]]; do sleep 0.01; done
seed=$RANDOM
echo "seed $seed"
"$BUILD/service/attach_cycles" "$pid" "${CYCLES:-20}" "$socket" cycles "$PWD/images" $seed >cycles ||
    { cat cycles >&2; fail "attached again and again"; }
gone
same_code
ends
equal "after cycles" "$(tail -n 1 said)" "all came back, threads, processes and signals"
kill -INT "$served"
wait "$served" || true

echo '-- the service is killed: the hooks stay, and the program goes on'
rm -rf traces
runs ./busy
attached
sleep 0.2
kill -KILL "$attaching"
sleep 0.3
ends
equal "without its service" "$(tail -n 1 said)" "all came back, threads, processes and signals"

echo '-- a program without symbols, and its end while it is recorded'
mv traces killed # where the keeper is at work yet
: >said
lua5.4 -e 'io.stdout:write(io.open("/proc/self/stat"):read("n"), "\n") io.stdout:flush() local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end repeat f(20) until io.open("enough") print("ended")' >said &
job=$!
started+=($!)
until pid=$(head -n 1 said) && [[ $pid ]]; do sleep 0.01; done
attached
touch enough
wait "$attaching" || fail "attach: status $?"
wait "$job" || fail "lua: status $?"
equal "lua" "$(tail -n 1 said)" ended
"$BUILD/grinder/grinder" --mode=summary traces/*.bin >summary
contains summary 'state +ended without exit'
contains summary 'luaV|lua5.4!'

echo '-- many libraries, and little room for their stubs, as addresses are not random'
rm -rf traces
mkdir libraries
for ((library = 0; library < 80; library++)); do
    printf 'int of_%d(int n) { volatile int sum = n; return sum + %d; }\n' $library $library >library.c
    gcc -O1 -shared -fPIC library.c -o libraries/lib$library.so
    echo "int of_$library(int n);" >>declared
    echo "of_$library(1);" >>called
done
cat declared - >many.c <<END
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    printf("%d\\n", getpid());
    for (fflush(stdout);; usleep(1000)) {
        $(<called)
    }
}
END
gcc many.c libraries/*.so -Wl,-rpath,"$PWD/libraries" -o many
not_random=(setarch -R)
"${not_random[@]}" true 2>/dev/null || not_random=() # some containers forbid it
runs "${not_random[@]}" ./many
attached
contains attach.log ' of 82 images are hooked'
! grep 'left alone' attach.log || fail "libraries were left alone"
sleep 0.1
detached
gone
same_code
kill -KILL "$pid"
"$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions traces/*.bin
equal "libraries that were called" "$(cut -f 4 functions | grep -c '^of_')" 80

echo '-- who is refused'
# refused PATTERN WORD…
refused()
{
    local status=0
    "$service" attach "${@:2}" --trace-dir=none >refused.log 2>&1 || status=$?
    ((status == 1 || status == 2)) || fail "not refused: ${*:2}: status $status"
    contains refused.log "$1"
}
refused 'expected the number of a process, found none'
refused 'expected the number of a process, found x1' x1
refused 'is no process|cannot be watched' 4194303
! "$service" detach 4194303 2>refused.log || fail "detached from what is not there"
contains refused.log 'process 4194303: expected .attach. to have hooked it, found no such service'
sleep 100 &
started+=($!)
sleeper=$!
refused 'samples' "$sleeper" --mode=samples
refused 'does not take it' "$sleeper" --paused
kill -STOP "$sleeper"
until grep -q '^State:.T' "/proc/$sleeper/status"; do sleep 0.01; done
refused 'is stopped' "$sleeper"
kill -CONT "$sleeper"
printf '__asm__(".section .gopclntab; .long 0; .text"); int main(void) { for (;;) __builtin_ia32_pause(); }\n' >go.c
gcc go.c -o go
./go &
started+=($!)
refused 'a Go program' $!
echo 'int of_java(void) { return 0; }' >jvm.c
gcc -shared -fPIC jvm.c -o libj9vm29.so
printf 'int of_java(void); int main(void) { for (;;) of_java(); }\n' >java.c
gcc java.c ./libj9vm29.so -o java
./java &
started+=($!)
refused 'a Java machine of OpenJ9' $!
