# Mutated messages to what is running: 800 to a service, which serves its clients afterwards; to its keeper,
# by whoever comes as its next service; to keepers by what is their service; and to services by what is an
# earlier keeper. Nothing that is held is lost, nothing is written outside. SEED (1) chooses them.
# needs: util-linux
. "$(dirname "$0")/../lib.sh"

cases=${CASES:-800}
seed=${SEED:-1}
echo "seed $seed"
say="$BUILD/tests/campaigns/hostile_messages"
build busy busy.c
instrumented busy
socket=$XDG_RUNTIME_DIR/umbra/default

is_free() { flock -n "$socket.lock" true; }

until_so()
{
    local try
    for ((try = 0; try < 600; try++)); do
        "$@" && return
        sleep 0.05
    done
    fail "waited in vain for: $*"
}

is_complete()
{
    grinder --mode=summary traces/busy-"$program"-*.bin >summary 2>/dev/null &&
        grep -q '^ *state *ended without exit(), exit status 3' summary
}

# --- to a service, with a program that it records meanwhile
call_trace_service spawn --trace-dir="$work/traces" --log-file="$work/log"
begin_busy
timeout 300 "$say" service "$socket.socket" "$cases" "$seed"
! is_free || fail "the service has ended: $(tail -n 3 log)"
call_trace_service resume >answer
call_trace_service list >answer
contains answer "^[0-9]+	$program	"
mkdir next
(cd instrumented && ./busy 3 </dev/null) >printed 2>&1 || equal "status of another program" $? 3
call_trace_service status >answer
end_busy "a program of that service"
until_so is_complete

# --- to its keeper, when it was killed
begin_busy
kill -9 "$(<"$socket.lock")"
until_so is_free
until_so test -S "$socket.keeper"
timeout 300 "$say" next "$socket.keeper" "$((cases / 4))" "$seed"
call_trace_service spawn --trace-dir="$work/traces" --log-file="$work/log"
call_trace_service list >answer
contains answer "^[0-9]+	$program	"
end_busy "a program whose keeper heard that"
until_so is_complete
call_trace_service stop >answer

# --- to keepers; what they write outside of a folder would be the user's
as=()
((EUID != 0)) || as=(setpriv --reuid=4711 --regid=4711 --clear-groups)
chmod 711 "$work"
mkdir -m 777 folder folder/inside
timeout 300 "${as[@]}" "$say" keeper "$work/folder" "$((cases / 4))" "$seed" >said 2>&1 ||
    fail "status $?: $(grep -v 'the service is gone' said | tail -n 5)"

# --- to services that begin
mkdir earlier
(cd earlier && exec "$say" earlier "$socket.keeper" 20 "$seed") >offers 2>&1 &
started+=($!)
until_so grep -q ready offers
for ((i = 0; i < 20; i++)); do
    call_trace_service spawn --trace-dir="$work/traces" --log-file="$work/log" >said 2>&1 ||
        fail "service $i does not begin: $(<said)"
    call_trace_service status >answer
    call_trace_service stop >answer
done
equal "what lies beside the folder" "$(find "$work" -name '*escaped*')" ""
