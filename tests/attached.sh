# Programs that run and are attached to. To be sourced by bash, behind lib.sh.

service=$BUILD/service/call_trace_service

# talks COMMAND…: runs it; its number, which it says first, is in $pid then, in $job the shell's. It reads what is
# written to descriptor 5, and is read from 6; both are the script's.
talks()
{
    [[ -p input ]] || mkfifo input output
    "$@" <input >output &
    job=$!
    started+=($!)
    exec 5>input 6<output
    read -r pid <&6
}

# rounds N: so many lines for it, each of which it answers
rounds()
{
    local i line
    for ((i = 0; i < $1; i++)); do
        echo "$i" >&5
        read -r line <&6
    done
}

# runs COMMAND…: likewise, but nobody talks to it
runs()
{
    : >said
    "$@" >said &
    started+=($!)
    job=$!
    for ((try = 0; try < 500; try++)); do
        pid=$(head -n 1 said)
        [[ $pid ]] && return
        sleep 0.01
    done
    fail "$1 did not begin"
}

# turn: SIGUSR1 has the process do its work once more, until it has said `turn`
turn()
{
    local before
    before=$(grep -c '^turn' said || true)
    kill -USR1 "$pid"
    for ((try = 0; try < 1000; try++)); do
        (($(grep -c '^turn' said || true) > before)) && return
        sleep 0.01
    done
    fail "the program does nothing any more"
}

# attached OPTION…: the process $pid, until `detached`; by whom says the array `as`, a command. What attach says is in
# attach.log.
attached()
{
    local try
    : >attach.log
    "${as[@]}" "$service" attach "$pid" --trace-dir=traces "$@" >attach.log 2>&1 5>&- 6<&- &
    attaching=$!
    started+=($!)
    for ((try = 0; try < 3000; try++)); do
        grep -q 'are hooked' attach.log && return
        kill -0 "$attaching" 2>/dev/null || { cat attach.log >&2; fail "cannot attach"; }
        sleep 0.01
    done
    cat attach.log >&2
    fail "no hooks"
}
as=()

detached()
{
    local status=0
    kill -INT "$attaching"
    wait "$attaching" || status=$?
    equal "status of attach" "$status" 0
}

# Of what attach maps, and of the timers and the handler by which threads sample themselves.
nothing_left()
{
    [[ ! -s /proc/$pid/timers ]] || fail "timers are left: $(<"/proc/$pid/timers")"
    ((!(0x$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$pid/status") & 1 << 22))) || fail "SIGURG is handled"
    awk '$6 ~ /libattach|images-|memfd:/ || ($2 ~ /x/ && $6 == "")' "/proc/$pid/maps" >left
    [[ ! -s left ]] || fail "left in the process: $(<left)"
}
