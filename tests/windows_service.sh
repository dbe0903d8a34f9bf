#!/bin/bash
# call_trace_service.exe under Wine, and programs under Wine at the native service, with
# tcp_test_client.exe in their agent's place.
# needs: wine wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 binutils-mingw-w64-x86-64
# seconds: 15
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

windows_tools
wine_begins
exe=$WINDOWS/service/call_trace_service.exe
client_exe=$WINDOWS/service/tcp_test_client.exe

service()
{
    timeout 60 wine "$exe" "$@"
}

client()
{
    timeout 60 wine "$client_exe" "$rendezvous" "$@"
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
        sleep 0.05
    done
    fail "waited in vain for: $1 ($(plain_lines service status))"
}

status_is()
{
    service status >status 2>&1 || true
    grep -Eq -- "$1" status
}

# in_background VERB ARGUMENT: a client that stays; its Windows pid, which names its trace, is in
# $program, that of its Unix process in $unix_pid
in_background()
{
    : >ready
    wine "$client_exe" "$rendezvous" "$@" >ready &
    unix_pid=$!
    started+=("$unix_pid")
    wait_for 'grep -q ready ready'
    program=$(ls -t traces | head -n 1 | sed 's/.*exe-\([0-9]*\)-.*/\1/')
}

terminate()
{
    wine taskkill /f /pid "$1" >killed 2>&1 || fail "cannot end $1: $(<killed)"
}

terminate_program()
{
    terminate "$program"
    wait_for '! is_running'
}

is_running()
{
    kill -0 "$unix_pid" 2>/dev/null
}

# The first line of status: `instance default: running, pid 288, …`
service_pid()
{
    plain_lines service status | sed -n 's/.*pid \([0-9]*\),.*/\1/p'
}

echo '-- what it depends on'
equal 'DLLs' "$(x86_64-w64-mingw32-objdump -p "$exe" | sed -n 's/.*DLL Name: //p' |
    tr '[:upper:]' '[:lower:]' | sort | tr '\n' ' ')" \
    'advapi32.dll bcrypt.dll kernel32.dll msvcrt.dll ntdll.dll ws2_32.dll '

echo '-- spawn, status, stop'
service spawn --node-limit=77 --max-trace-size=1M
folder=$(echo "$WINEPREFIX"/drive_c/users/*/AppData/Local/umbra)
rendezvous="C:${folder#"$WINEPREFIX/drive_c"}/default.rendezvous"
[[ -z $(find "$folder" -perm /007) ]] || fail "others may read: $(ls -la "$folder")"
grep -Eq '^umbra 2 [0-9]+ [0-9a-f]{32} [0-9a-f]{32}$' "$folder/default.rendezvous" || fail 'rendezvous file'
for verb in spawn start; do
    ! service $verb 2>err || fail "a second service of the instance"
    contains err 'instance default: already served by pid [0-9]+: use that one'
done
client record 5
wait_for 'status_is "0 running, 1 ended"'
show traces/some_program.exe-*-1.bin
contains shown 'magic=UMBRATRC version=14 .* ppid=17 session=1 node_limit=77$'
contains shown 'capacity=1048576 used=24576 length=24576'
contains shown 'state=2 end=1 end_seen=1'
contains shown '^exe=C:\\Program Files\\some program.exe$'
service stop >stopped
contains stopped 'traces completed: 1, with 24576 bytes'
[[ -z $(ls "$folder") ]] || fail "left behind: $(ls "$folder")"
! service status >status || fail 'status of nothing succeeds'
contains status 'instance default: not running'
! service stop >stopped || fail 'stop of nothing succeeds'

echo '-- wrong hellos'
service spawn
for what in version kind exe long; do
    equal "$what" "$(plain_lines client wrong $what)" 'refused by version 2'
done
for what in magic secret short silent version+secret; do
    equal "$what" "$(plain_lines client wrong $what)" closed
done
equal flood "$(plain_lines client flood 100)" 'all closed'
client pieces
client exe '..\..\..\etc/passwd'
wait_for 'status_is "0 running, 2 ended"'
ls "$work"/traces/passwd-*-2.bin >/dev/null || fail "names: $(ls traces)"
service stop >stopped

echo '-- a program that is ended keeps what it wrote'
rm -rf traces
service spawn --max-trace-size=1M
in_background hang 3
wait_for 'status_is "windows programs: 1 running"'
terminate_program
wait_for 'status_is "0 running, 1 ended"'
show traces/*-"$program"-1.bin
contains shown 'used=16384 length=16384'
contains shown 'state=1 end=1'
in_background detach 2
sleep 1.2
status_is '1 running' || fail 'the session ended before its program'
show traces/*-"$program"-2.bin
contains shown 'used=12288 length=1048576'
is_running || fail 'the service cut the file below a mapping'
terminate_program
wait_for 'status_is "0 running, 2 ended"'
show traces/*-"$program"-2.bin
contains shown 'used=12288 length=12288'

echo '-- a service that is ended, or stopped, leaves programs alone'
in_background hang 4
terminate "$(service_pid)"
wait_for '! service status >status'
is_running || fail 'the program did not live on'
show traces/*-"$program"-*.bin
contains shown 'state=1 end=0'
contains shown 'used=20480 length=1048576'
terminate_program
show traces/*-"$program"-*.bin
contains shown 'used=20480 '
service spawn --max-trace-size=1M
in_background hang 4
service stop >stopped
contains stopped 'processes still running: 1,'
is_running || fail 'the program did not live on'
terminate_program

echo '-- start -- COMMAND'
windows_client=$(windows_path "$client_exe")
# Under load Wine has once said that it cannot start the program (status 126): what is wrong is wrong each time.
for try in 1 2 3; do
    status=0
    service start -- "$windows_client" - arguments 'a b' 'c"d' 'e\' '' 'f\\" g' plain >out 2>err ||
        status=$?
    ((status == 126)) || break
    echo "try $try: $(<err)"
done
equal 'its status' "$status" 42
equal 'its arguments' "$(tr -d '\r' <out)" '[a b][c"d][e\][][f\\" g][plain]'
contains err 'expected a program to record, found none'
rm -rf traces
service start -- "$windows_client" - record 2
show traces/*-1.bin
contains shown 'used=12288 length=12288'
status=0
service start -- ./no-such.exe 2>err || status=$?
equal 'status of no command' "$status" 127
contains err 'no-such.exe: cannot run the command: No such file'

echo '-- Ctrl-C, which is what Wine makes of SIGINT'
env --default-signal=INT wine "$exe" start 2>err &
service_unix_pid=$!
started+=("$service_unix_pid")
wait_for 'status_is "instance default: running"'
in_background hang 2
kill -INT "$service_unix_pid"
wait "$service_unix_pid" || fail "status $? of a service that was interrupted"
contains err 'still running: its trace .*some_program.exe-[0-9]+-1.bin is left as it is'
[[ -z $(ls "$folder") ]] || fail "left behind: $(ls "$folder")"
terminate_program

echo '-- at the native service'
rm -rf traces
call_trace_service start --max-trace-size=1M -- "$client_exe" - record 3 >out 2>err ||
    fail "cannot record: $(<err)"
show traces/some_program.exe-*-1.bin
contains shown 'used=16384 length=16384'
contains shown 'state=2 end=1'
[[ ! -s err ]] || fail "it said: $(<err)"
"$BUILD/service/call_trace_service" spawn
rendezvous=$(windows_path run/umbra/default.rendezvous)
in_background hang 6
call_trace_service status >status
contains status 'windows programs: 1 running'
kill -KILL "$unix_pid"
wait_for 'call_trace_service status | grep -q "0 running, 1 ended"'
show traces/*-"$program"-1.bin
contains shown 'used=28672 length=28672'
in_background hang 6
call_trace_service stop >stopped
is_running || fail 'the program did not live on'
terminate_program
show traces/*-"$program"-*.bin
contains shown 'used=28672 '
