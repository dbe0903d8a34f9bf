#!/bin/bash
# File systems that are full when a program starts, or while it runs, in both modes: the program
# does not notice, the service lives, and what was recorded can be read. And a trace that has
# reached its limit.
# needs: e2fsprogs xfsprogs btrfs-progs
# seconds: 15
. "$(dirname "$0")/lib.sh"

build coroutines coroutines.c
build busy busy.c
instrumented coroutines
instrumented busy

# More functions than 64 KiB have room for contexts: these fold before, but not into each other's.
{
    for ((i = 0; i < 2000; i++)); do
        echo "__attribute__((noinline)) static int f$i(int i) { __asm__(\"\"); return i + $i; }"
    done
    echo '#include <stdio.h>'
    echo 'int main(void) { int sum = 0;'
    for ((i = 0; i < 2000; i++)); do
        echo "sum += f$i(sum & 7);"
    done
    echo 'printf("%d\n", sum); return 0; }'
} >many.c
build many "$work/many.c"
instrumented many

run native ./many

run instrumented "$BUILD/service/call_trace_service" start --max-trace-size=64K \
    --trace-dir="$work/traces" -- ./many
compare_runs "a trace of 64 KiB"
balanced
[[ $(summed dropped) -gt 0 ]] || fail "a trace of 64 KiB: nothing was dropped"
run native ./coroutines

if ((EUID != 0)); then
    echo "skipped: only root can make file systems"
    exit 0
fi

unmount()
{
    mountpoint -q "$work/disk" && umount "$work/disk"
    rm -f image
}
finish()
{
    local status=$?
    unmount
    (exit "$status")
    end_of_script
}
trap finish EXIT
mkdir disk

# make_disk KIND: as small as they get
make_disk()
{
    local size=300M
    [[ $1 == tmpfs ]] && { mount -t tmpfs -o size=4m tmpfs disk; return; }
    [[ $1 == ext4 ]] && size=16M
    [[ $1 == btrfs ]] && size=120M
    rm -f image
    truncate -s "$size" image
    "mkfs.$1" -q image >made 2>&1 && mount -o loop image disk 2>made ||
        { echo "skipped: $1: $(tail -n 1 made)"; return 1; }
}

fill()
{
    dd if=/dev/zero of=disk/filler bs=64k status=none 2>/dev/null || true
    dd if=/dev/zero of=disk/filler.too bs=1k status=none 2>/dev/null || true
    sync disk 2>/dev/null || true
}

# What the service says of it is no output of the program's.
normalise()
{
    sed -i '/^call_trace_service: /d' "$1"
}

# readable PROGRAM WHAT: its traces, there or where links lead to, are whole; without dropped calls
readable()
{
    local traces
    mapfile -t traces < <(find -L "$work/disk" -name "$1-*.bin" -size +0
        sed -n 's/.*cannot write the trace: .*; it is in //p' service.log)
    [[ -s ${traces[0]:-} ]] || fail "$2: no trace: $(ls -l "$work/disk"; cat service.log)"
    grinder --mode=summary "${traces[@]}" >summary 2>problems || { cat problems >&2; fail "$2: not whole"; }
    equal "$2: dropped" "$(summed dropped)" 0
    (($(summed entries) > 1000)) || fail "$2: few entries: $(<summary)"
}

# begin_service MODE
begin_service()
{
    rm -f service.log # the last service's says that it is ready
    "$BUILD/service/call_trace_service" start --trace-dir="$work/disk" --mode="$1" 2>service.log &
    service=$!
    started=("$service")
    for ((i = 0; i < 100; i++)); do
        grep -qs ready service.log && return
        sleep 0.1
    done
    fail "the service does not begin: $(<service.log)"
}

end_service()
{
    kill -0 "$service" || fail "$1: the service is dead"
    kill "$service"
    wait "$service" || fail "$1: the service ended with $?"
    started=()
}

for kind in tmpfs ext4 xfs btrfs; do
    for mode in profile calltrace; do
        make_disk "$kind" || continue
        begin_service "$mode"
        fill
        run instrumented ./coroutines
        compare_runs "$kind, $mode, full at the start"
        end_service "$kind, $mode, full at the start"
        readable coroutines "$kind, $mode, full at the start"
        contains service.log 'cannot write the trace: No space left on device; it is in /'
        rm -f disk/filler* disk/coroutines*

        begin_service "$mode"
        begin_busy
        fill
        sleep "$((RANDOM % 2)).5" # new contexts and threads all the time
        end_busy "$kind, $mode, filled midway"
        end_service "$kind, $mode, filled midway"
        readable busy "$kind, $mode, filled midway"
        umount disk
        echo "$kind, $mode: as natively, service alive, traces whole"
    done
done

# There is room again: nothing of that time is lost, nor is any of the next.
make_disk tmpfs
mount -o remount,size=64m disk
begin_service profile
fill
run instrumented ./coroutines
rm -f disk/filler*
run instrumented ./coroutines
compare_runs "room again"
end_service "room again"
readable coroutines "room again"
[[ -f $(find disk -name '*-2.bin' -type f) ]] || fail "room again: the second trace is not there: $(ls -l disk; cat service.log)"
