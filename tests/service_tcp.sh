#!/bin/bash
# Windows programs at the Linux service, over TCP: tcp_test_client in their agent's place.
# seconds: 20
. "$(dirname "$0")/lib.sh"

rendezvous=$work/run/umbra/default.rendezvous
log=$work/service.log

client()
{
    "$BUILD/service/tcp_test_client" "$rendezvous" "$@"
}

show()
{
    "$BUILD/service/service_test_client" show "$1" >shown
}

wait_for()
{
    local try
    for try in $(seq 300); do
        if eval "$1"; then return; fi
        sleep 0.02
    done
    fail "waited in vain for: $1 ($(tail -n 3 "$log"))"
}

# serve OPTION…: a service in the background whose messages are in $log
serve()
{
    rm -rf traces
    "$BUILD/service/call_trace_service" start --trace-dir=traces "$@" 2>"$log" &
    service=$!
    started+=("$service")
    wait_for 'call_trace_service status >/dev/null 2>&1'
}

status_is()
{
    call_trace_service status | grep -Eq -- "$1"
}

stop()
{
    call_trace_service stop >stopped
    wait "$service"
    [[ -z $(ls run/umbra) ]] || fail "left behind: $(ls run/umbra)"
}

# in_background VERB ARGUMENT: a client that says "ready" and stays; its pid is in $program
in_background()
{
    : >ready
    "$BUILD/service/tcp_test_client" "$rendezvous" "$@" >ready &
    program=$!
    started+=("$program")
    wait_for 'grep -q ready ready'
}

kill_program()
{
    kill -KILL "$program"
    wait "$program" 2>/dev/null || true
}

descriptors()
{
    find "/proc/$service/fd" -mindepth 1 | wc -l
}

echo '-- a trace is made and completed'
serve --node-limit=77 --max-trace-size=1M --verbose
equal 'the rendezvous file' "$(stat -c '%a %s' "$rendezvous")" \
    "600 $(printf 'umbra 2 %s %032d %032d\n' "$(cut -d' ' -f3 "$rendezvous")" 0 0 | wc -c)"
client record 5
wait_for 'status_is "sessions: 0 running, 1 ended"'
trace=$(echo traces/some_program.exe-*-1.bin)
show "$trace"
contains shown 'ppid=17 session=1 node_limit=77$'
contains shown 'capacity=1048576 used=24576 length=24576 mode=600'
contains shown 'state=2 end=1 end_seen=1'
contains shown '^exe=C:\\Program Files\\some program.exe$'
contains shown '^command="C:\\Program Files\\some program.exe" -x "a b"$'
client pieces
equal 'what the secret alone is worth' "$(client opening | paste -sd' ')" 'proof closed'
status_is 'windows programs: [01] running, port [0-9]+' || fail 'status does not tell of TCP'
client status >asked
contains asked $'^instance\tdefault$'
contains asked $'^windows_programs\t[01]$'
tail -n 1 asked | grep -q '^$' || fail 'the answer has no end'
equal 'listening sockets' "$(awk -v port="$(printf ':%04X' "$(cut -d' ' -f3 "$rendezvous")")" \
    'index($2, port) && $4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6)" \
    "0100007F$(printf ':%04X' "$(cut -d' ' -f3 "$rendezvous")")"

echo '-- a killed program keeps what it wrote'
in_background hang 3
wait_for 'status_is "windows programs: 1 running"'
kill_program
wait_for 'status_is "sessions: 0 running"'
show traces/some_program.exe-"$program"-*.bin
contains shown 'used=16384 length=16384'
contains shown 'state=1 end=1'

echo '-- who closes the connection, or talks on, keeps its mapping'
for verb in detach chatter; do
    in_background "$verb" 2
    sleep 1.2 # two sweeps
    kill -0 "$program" || fail "$verb: the service cut the file below a mapping"
    status_is 'sessions: 1 running' || fail "$verb: the session ended before its program"
    show traces/some_program.exe-"$program"-*.bin
    contains shown 'used=12288 length=1048576'
    kill_program
    wait_for 'status_is "sessions: 0 running"'
    show traces/some_program.exe-"$program"-*.bin
    contains shown 'used=12288 length=12288'
done
contains "$log" 'expected its connection to be silent, found 17 bytes'
stop

echo '-- names'
serve
client exe '..\..\..\etc/passwd'
client exe 'C:\y\.hidden'
client exe '/tmp/\x1b[2J\xff\xc3\xa4.exe'
client exe 'C:'
client exe ''
wait_for 'status_is "sessions: 0 running, 5 ended"'
stop
for name in passwd _hidden __2J___.exe unknown; do
    ls traces | grep -Eq "^$name-[0-9]+-[0-9]+\.bin$" || fail "no trace $name: $(ls traces)"
done
equal 'traces' "$(ls traces/*.bin | wc -l)" 5
show traces/__2J*
contains shown $'^exe=/tmp/\\?\\[2J\\?\xc3\xa4.exe$'

echo '-- wrong hellos'
serve
before=$(descriptors)
for what in version kind exe command long; do
    equal "$what" "$(client wrong $what)" 'refused by version 2'
done
for what in magic secret short tiny silent http version+secret long+secret kind+secret; do
    equal "$what" "$(client wrong $what)" closed
done
contains "$log" 'closed somebody at the TCP port: it does not know the secret'
contains "$log" 'closed somebody at the TCP port: expected a message of Umbra'
contains "$log" 'refused somebody at the TCP port: expected protocol version 2, found 3'
contains "$log" 'refused somebody at the TCP port: expected a hello of 3136 bytes, found more'
contains "$log" 'found a hello of kind 1 that is malformed'
contains "$log" 'dropped somebody at the TCP port: it said nothing, or not all, for 3 s'
[[ -z $(ls traces) ]] || fail "traces for wrong hellos: $(ls traces)"
status_is 'sessions: 0 running, 0 ended, 14 refused' || fail "$(call_trace_service status)"

echo '-- crowds'
equal flood "$(client flood 200)" 'all closed'
for i in $(seq 150); do client wrong magic; done | sort | uniq -c >answers
contains answers '^ *150 closed$'
[[ $(grep -c 'closed somebody' "$log") -le 100 ]] || fail 'strangers fill the log'
equal 'descriptors' "$(descriptors)" "$before"
"$BUILD/service/service_test_client" record 1
client record 1
wait_for 'status_is "sessions: 0 running, 2 ended"'
stop
(
    ulimit -n 20
    exec "$BUILD/service/call_trace_service" start --trace-dir=traces 2>"$log"
) &
service=$!
started+=("$service")
wait_for 'call_trace_service status >/dev/null 2>&1'
equal 'flood, descriptors few' "$(client flood 40)" 'all closed'
client record 1
stop

echo '-- either side is killed'
serve
in_background hang 4
kill -KILL "$service"
wait "$service" 2>/dev/null || true
[[ -e $rendezvous ]] || fail 'a killed service took its rendezvous file with it'
sleep 0.1
kill -0 "$program" || fail 'the program did not live on'
show traces/*.bin
contains shown 'state=1 end=0'
contains shown 'used=20480 length=1073741824'
secret=$(<"$rendezvous")
kept=$(echo traces/*.bin)
mv traces kept
serve
for field in 4 5; do
    [[ $(cut -d' ' -f$field <<<"$secret") != "$(cut -d' ' -f$field "$rendezvous")" ]] ||
        fail "field $field is the one of the dead service"
done
kill_program
show "kept/${kept#*/}"
contains shown 'used=20480'
in_background hang 4
stop
contains stopped 'processes still running: 1,'
kill -0 "$program" || fail 'the program did not live on when the service stopped'
show traces/*.bin
contains shown 'used=20480 length=1073741824'
kill_program

echo '-- start -- COMMAND'
run native "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- bash -c '
    path=${UMBRA_RENDEZVOUS#Z:}
    path=${path//\\//}
    [[ $path == $XDG_RUNTIME_DIR/umbra/$UMBRA_INSTANCE_ID.rendezvous && -f $path ]]'
equal 'UMBRA_RENDEZVOUS' "$(<native.status)" 0
mkdir bin
cat >bin/wine <<'EOF'
#!/bin/sh
echo "wine: $*"
exit 5
EOF
chmod +x bin/wine
{ printf 'MZ'; head -c 58 /dev/zero; printf '\x40\0\0\0PE\0\0'; } >native/app.exe
PATH=$work/bin:$PATH run native "$BUILD/service/call_trace_service" start -- ./app.exe a 'b c'
equal 'its status' "$(<native.status)" 5
equal 'what wine is given' "$(<native.stdout)" 'wine: ./app.exe a b c'
PATH=$work/native:$work/bin:$PATH run native "$BUILD/service/call_trace_service" start -- app.exe
equal 'a program in PATH' "$(<native.stdout)" "wine: $work/native/app.exe"
run native env PATH=/nowhere "$BUILD/service/call_trace_service" start -- ./app.exe
equal 'without wine' "$(<native.status)" 127
contains native.stderr 'app.exe: a Windows program; cannot run wine: No such file'
