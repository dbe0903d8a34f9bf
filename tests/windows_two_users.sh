#!/bin/bash
# Windows programs under Wine, and an attacker, who has written a rendezvous file, listens at the port
# of a service that is gone, or owns the trace: he gets nothing. What the proof alone prevents is
# tried as the same user, whom no other check stops.
# needs: wine wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

((EUID == 0)) || { echo 'skipped: only root can be two users'; exit 0; }

attacker=$((20000 + $$ % 40000))
windows_tools
wine_begins
mkdir -m 0700 run/umbra
file=run/umbra/default.rendezvous
unset UMBRA_RENDEZVOUS
chmod 0711 "$work"
mkdir log of_attacker
chmod 0700 of_attacker
chown $attacker of_attacker
gcc -O1 -I"$TESTS/programs" -I"$TOP" "$TESTS/programs/hostile_tcp.c" -o hostile_tcp

AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc-posix -O2 -g -static "$TOP/samples/fib.c" -o native/fib.exe
instrument native/fib.exe -o instrumented/fib.exe >/dev/null 2>&1
run native fib.exe
[[ $(<native.status) == 0 ]] || fail 'the program itself is broken'

wait_for()
{
    local try
    for try in $(seq 300); do
        if eval "$1"; then return; fi
        sleep 0.02
    done
    fail "waited in vain for: $1 ($(<log/hostile))"
}

# hostile_begins USER FOLDER HOW: as programs/hostile_tcp.c has it; its files are written there
hostile_begins()
{
    : >log/hostile
    setpriv --reuid="$1" --clear-groups ./hostile_tcp "$2/rendezvous" "$2/trace" "$3" >log/hostile &
    hostile=$!
    started+=("$hostile")
    wait_for 'grep -q ready log/hostile'
    cp "$2/trace" trace_before
    trace=$2/trace
}

hostile_ends()
{
    kill "$hostile"
    wait "$hostile" 2>/dev/null || true
    rm -f "$file" run/umbra/default.lock "$trace"
}

# offered MODE [OWNER]: the hostile service's file, where the agent looks, and the lock beside it
offered()
{
    install -m "$1" -o "${2:-0}" "$(dirname "$trace")/rendezvous" "$file"
    : >run/umbra/default.lock
}

# safe WHAT: the program is as natively, and the trace as it was
safe()
{
    run instrumented fib.exe
    compare_runs "$1"
    cmp "$trace" trace_before || fail "$1: the trace was mapped"
}

# untouched WHAT: nobody so much as connected
untouched()
{
    equal "$1: the hostile service" "$(<log/hostile)" ready
}

echo '-- what is tried below works where it is one user'
mkdir ours
hostile_begins 0 ours right
offered 0600
run instrumented fib.exe
! cmp -s "$trace" trace_before || fail 'the trace was not mapped'
wait_for 'grep -q "heard 3136 bytes" log/hostile'
hostile_ends

echo '-- the rendezvous file'
hostile_begins $attacker of_attacker right
offered 0644 $attacker
safe "the attacker's file"
untouched "the attacker's file"
export UMBRA_RENDEZVOUS
UMBRA_RENDEZVOUS=$(windows_path of_attacker/rendezvous)
safe "the attacker's file, by UMBRA_RENDEZVOUS"
untouched "the attacker's file, by UMBRA_RENDEZVOUS"
unset UMBRA_RENDEZVOUS
hostile_ends
for mode in 0604 0602; do
    hostile_begins 0 ours right
    offered $mode
    safe "a file of mode $mode"
    untouched "a file of mode $mode"
    hostile_ends
done

echo '-- the port of a service that is gone'
hostile_begins $attacker of_attacker silent
offered 0600
safe "the attacker's port"
untouched "the attacker's port"
hostile_ends
hostile_begins 0 ours right
offered 0600
rm run/umbra/default.lock
safe "a service without its lock"
untouched "a service without its lock"
hostile_ends

echo '-- the proof'
hostile_begins 0 ours wrong
offered 0600
safe "a wrong proof"
wait_for 'grep -q heard log/hostile'
equal "what was told before the proof" "$(tail -n 1 log/hostile)" 'heard 48 bytes'
hostile_ends

echo '-- the trace'
for how in "chown $attacker" 'chmod 0606'; do
    hostile_begins 0 ours right
    offered 0600
    $how "$trace"
    safe "the trace, $how"
    wait_for 'grep -q "heard 3136 bytes" log/hostile'
    hostile_ends
done

hostile_begins 0 ours right
offered 0600
head -c 1M /dev/urandom >"$trace"
cp "$trace" trace_before
safe "a file of one's own that is no trace"
wait_for 'grep -q "heard 3136 bytes" log/hostile'
hostile_ends

echo '-- call_trace_service.exe'
wine cmd /c 'echo %LOCALAPPDATA%' >folder
folder=$(tr -d '\r' <folder)
folder=${folder#C:}
folder=$WINEPREFIX/drive_c${folder//\\//}/umbra
mkdir -p "$folder"
rmdir run/umbra
ln -s "$folder" run/umbra # to be offered there
ask()
{
    ! wine "$WINDOWS/service/call_trace_service.exe" status >said 2>&1 || fail "it asked: $(<said)"
}
hostile_begins $attacker of_attacker right
offered 0644 $attacker
printf 17 >"$folder/default.lock"
chmod 0600 "$folder/default.lock"
ask
contains said 'default.rendezvous: expected a file that this user alone may open'
untouched 'asked for its status'
hostile_ends
hostile_begins 0 ours wrong
offered 0600
printf 17 >"$folder/default.lock"
chmod 0600 "$folder/default.lock"
ask
contains said 'expected an answer from the service'
wait_for 'grep -q heard log/hostile'
equal "what was asked before the proof" "$(tail -n 1 log/hostile)" 'heard 48 bytes'
hostile_ends
