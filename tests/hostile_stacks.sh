#!/bin/bash
# Whole stacks, where programs, disks and files are against it: stack pointers that lead nowhere, names with
# control characters, few descriptors, full disks, signals, images that say anything.
# needs: gcc python3
. "$(dirname "$0")/lib.sh"

if ! call_trace_service start --mode=samples --trace-dir=probe -- true 2>err; then
    contains err 'whole stacks cannot be sampled here: perf_event_open'
    echo "skipped: perf_event_open is not allowed here"
    exit 0
fi
build hostile hostile_stacks.c
hostile=$PWD/native/hostile

# sampled NAME COMMAND…: into traces.NAME; STATUS, or 0. What is said is in err.
sampled()
{
    local name=$1 status=0
    shift
    call_trace_service start --mode=samples --trace-dir="$PWD/traces.$name" -- "$@" >out 2>err || status=$?
    equal "status of $*" "$status" "${STATUS:-0}"
}

# summed NAME: NAME.summary, in which nothing is wrong
summed()
{
    timeout 60 "$BUILD/grinder/grinder" --mode=summary "traces.$1" >"$1.summary" 2>problems.all
    # An earlier process of the same number may have left its map.
    grep -v 'perf-[0-9]*.map: is older than the recording' problems.all >problems || true
    [[ ! -s problems ]] || fail "$1: $(<problems)"
}

echo '-- stack pointers that lead nowhere'
sampled pointer "$hostile" pointer
[[ ! -s err ]] || fail "$(<err)"
summed pointer
contains pointer.summary '^  samples +[0-9]{2,}, by perf'

echo '-- names'
mkdir names
(cd names && sampled names "$hostile" names "$hostile" && mv err traces.names ..)
summed names
equal "threads" "$(grep -c 'a?b?\[31m?' names.summary)" 1
! LC_ALL=C grep -q $'[\001-\010\013-\037\177]' names.summary || fail "control characters"
rm -r names

echo '-- code that is mapped at many places'
sampled code "$hostile" code "$hostile"
(ulimit -n 64 && summed code)
contains code.summary '100\.0% of them with all callers'

echo '-- fewer descriptors than processes'
(ulimit -n 64 && sampled crowd "$hostile" crowd 80)
equal "other lines" "$(grep -vc 'pid [0-9]*: cannot write the trace: Too many open files$' err)" 0
failed=$(wc -l <err)
((failed > 0)) || fail "there were enough"
equal "traces and failures" "$(($(ls traces.crowd/*.bin | wc -l) + failed))" 81
equal "stacks" "$(ls traces.crowd/*.stacks | wc -l)" "$(ls traces.crowd/*.bin | wc -l)"
summed crowd
equal "the command's limit" "$(ulimit -Sn 100; call_trace_service start --mode=samples -- bash -c 'ulimit -Sn')" 100

echo '-- a full disk, and a folder that is gone'
busy='for ((i = 0; i < 20000; i++)); do :; done; exit 4'
(ulimit -f 8 && STATUS=4 sampled full bash -c "$busy")
equal "lines" "$(wc -l <err)" 1
contains err '\.bin: pid [0-9]+: cannot write the trace: File too large$'
equal "files" "$(ls -A traces.full)" ''
STATUS=4 sampled gone bash -c "rm -r traces.gone; $busy"
contains err 'cannot write the trace: No such file or directory$'

echo '-- what cannot be run, and streams that are closed'
STATUS=127 sampled not /nonexistent
equal "lines" "$(wc -l <err)" 1
STATUS=126 sampled not /etc/passwd
equal "lines" "$(wc -l <err)" 1
equal "traces" "$(ls -A traces.not)" ''
(exec <&- >&- 2>&-; call_trace_service start --mode=samples --trace-dir=traces.closed -- sh -c 'exit 3') &&
    fail "another status" || equal "status" $? 3
summed closed

echo '-- signals'
cat >waits.sh <<'END'
trap 'echo got it; exit 9' TERM
echo ready
while :; do sleep 0.01; done
END
# signalled NAME COMMAND…
signalled()
{
    local name=$1 status=0
    shift
    "$@" bash waits.sh >"$name.out" 2>err &
    until grep -q ready "$name.out"; do sleep 0.02; done
    kill $!
    wait $! || status=$?
    equal "status" "$status" 9
    contains "$name.out" 'got it'
}
signalled service "$BUILD/service/call_trace_service" start --mode=samples --trace-dir=traces.service --
summed service
signalled umbra "$BUILD/front/umbra" record -q --how=samples -o data --
mv data/traces traces.umbra
summed umbra
contains umbra.summary '^process [0-9]+ +bash waits.sh$'

echo '-- images that say anything'
gcc -O2 -Wl,--build-id=none "$TESTS/programs/hostile_stacks.c" -o image
sampled image "$PWD/image" crowd 1
cat >spoil.py <<'END'
import random, sys
random.seed(int(sys.argv[1]))
image = bytearray(open("whole", "rb").read())
table = int.from_bytes(image[40:48], "little")
sections = [image[at : at + 64] for at in range(table, len(image) - 63, 64)]
of = lambda section, at: int.from_bytes(section[at : at + 8], "little")
places = [(64, 700), (table, len(image) - table)]
places += [(of(section, 24), of(section, 32)) for section in sections
           if 0 < of(section, 24) + of(section, 32) < table]
for _ in range(12):
    begin, size = random.choice(places)
    at = begin + random.randrange(size) if size else begin
    value = random.choice([0, 1 << 63, (1 << 64) - 1, (1 << 32) - 1, random.getrandbits(64)])
    count = random.choice([1, 4, 8])
    image[at : at + count] = value.to_bytes(8, "little")[:count]
open("image", "wb").write(image)
END
cp image whole
for seed in {1..8}; do
    python3 spoil.py "$seed"
    timeout 60 "$BUILD/grinder/grinder" --mode=summary traces.image >out 2>err || fail "seed $seed: $? $(<err)"
done

echo '-- mappings without end'
cp whole image
cat >more.py <<'END'
import struct, sys
name = b"//anon\0\0"
for i in range(66000):
    sys.stdout.buffer.write(struct.pack("<IIQQQI20s", 1, 56 + len(name), (i + 1) << 32, 4096, 0, 0, b"") + name)
END
python3 more.py | tee -a traces.image/*.stacks >/dev/null
timeout 60 "$BUILD/grinder/grinder" --mode=summary traces.image >out 2>err
contains err '[0-9]+ mappings more than 65536 are left out$'
contains out '^  samples +[0-9]+, by perf: .* (100\.0|[5-9][0-9]\.[0-9])% of them with all callers' # of five or six

rm image
mkfifo image
timeout 60 "$BUILD/grinder/grinder" --mode=summary traces.image >out 2>err
contains err '/image: is not a regular file; its functions have no names$'
