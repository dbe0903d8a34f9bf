#!/bin/bash
# The units in samples/systemd are well-formed and give up all that a user service can give up. The
# service and its keeper make no system call that they refuse, in their whole life. Under a user's own systemd, with
# these restrictions in force, it starts by its socket, records, samples, serves Windows programs,
# and completes its traces.
# needs: gcc systemd strace python3
. "$(dirname "$0")/lib.sh"

# What the user of the last section executes has to be within that user's reach.
chmod 755 "$work"
mkdir -p bin home/.config/systemd/user
cp "$BUILD"/service/{call_trace_service,service_test_client,tcp_test_client} "$AGENT" bin/
units=$work/home/.config/systemd/user
cp "$TESTS"/../samples/systemd/* "$units"
sed -i "s|^ExecStart=|&$work/bin/|" "$units"/*.service
unit=$units/call_trace_service.service

wait_for()
{
    for ((i = 0; i < 500; i++)); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.02
    done
    fail "waited in vain for: $*"
}

echo '-- they are well-formed'
systemd-analyze verify --user "$units"/*.service "$units"/*.socket 2>verified || true
if grep -E '(Unknown|Failed to parse|Invalid|not absolute|ignoring)' verified; then fail "the units"; fi

echo '-- what they leave open'
# What a user service cannot give up, or this one needs. Everything else has to be restricted.
cat >may_be_open <<'END'
CapabilityBoundingSet=            needs CAP_SETPCAP: without it systemd does not start the service
DeviceAllow=                      ignored in user services
IPAddressDeny=                    ignored in user services
PrivateDevices=                   a user namespace, and so are those below that say so
PrivateMounts=                    a user namespace
PrivateNetwork=                   a user namespace
PrivateTmp=                       a user namespace
PrivateUsers=                     is the user namespace: no /proc/PID/exe or samples of programs outside
ProcSubset=                       a user namespace
ProtectClock=                     CAP_SETPCAP, or a user namespace
ProtectControlGroups=             a user namespace
ProtectHome=                      a user namespace
ProtectHostname=                  a user namespace
ProtectKernelLogs=                CAP_SETPCAP, or a user namespace
ProtectKernelModules=             CAP_SETPCAP, or a user namespace
ProtectKernelTunables=            a user namespace
ProtectProc=                      a user namespace
ProtectSystem=                    a user namespace
RestrictAddressFamilies=~AF_UNIX  programs connect by it
RestrictAddressFamilies=~AF_(INET|INET6)  Windows programs connect by it
RootDirectory=/RootImage=         a user namespace
SystemCallFilter=~@debug          perf_event_open takes the samples
User=/DynamicUser=                the user is the user
END
systemd-analyze security --user --offline=true --no-pager --threshold=63 "$unit" >security ||
    { tail -n 1 security >&2; fail "the score is above 6.3"; }
sed -n 's/^✗ *\([^ ]*\).*/\1/p' security >open
[[ -s open ]] || { cat security >&2; fail "nothing was judged"; }
while read -r directive; do
    [[ $directive == CapabilityBoundingSet=~* ]] && directive=CapabilityBoundingSet=
    cut -d ' ' -f 1 may_be_open | grep -qxF -- "$directive" || fail "$directive is left open"
done <open
tail -n 1 security

# The system calls that the unit permits, one a line.
permitted()
{
    local word
    for word in $(if (($#)); then echo "$@"; else sed -n 's/^SystemCallFilter=//p' "$unit"; fi); do
        [[ $word == @* ]] || { echo "$word"; continue; }
        # shellcheck disable=SC2046
        permitted $(systemd-analyze syscall-filter "$word" | sed -n 's/^ \+\([^# ]\+\).*/\1/p')
    done
}

echo '-- its system calls'
build samples samples.c
instrument --agent="$work/bin/libhooks.so" native/samples -o instrumented/samples >/dev/null

# serve NAME OPTION…: a service begun by its socket, whose calls, and its keeper's, go to NAME.calls
serve()
{
    local name=$1
    shift
    mkdir -p -m 700 run/umbra
    rm -f run/umbra/default.socket # of the one before
    # with -D, strace is a grandchild: LISTEN_PID is the service's
    systemd-socket-activate --seqpacket --listen="$XDG_RUNTIME_DIR/umbra/default.socket" \
        -E XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" strace -D -f -o "$work/$name.calls" \
        bin/call_trace_service start --trace-dir="$work/life" "$@" 2>activated &
    started+=($!)
    wait_for test -S run/umbra/default.socket
}

# hang: a program that records until it is killed; its pid is in $victim
hang()
{
    bin/service_test_client hang 2 >ready &
    victim=$!
    started+=("$victim")
    wait_for grep -q ready ready
}

kill_hanging()
{
    kill -KILL "$victim"
    wait "$victim" 2>/dev/null || true
}

# all_ended NAME: all processes in NAME.calls
all_ended()
{
    awk '{ seen[$1] } / \+\+\+ / { delete seen[$1]; ended++ }
        END { for (process in seen) exit 1; exit !ended }' "$1.calls"
}

# life NAME OPTION…: what a service may be asked, from its socket to its end
life()
{
    serve "$@"
    (cd instrumented && exec ./samples >/dev/null)
    bin/service_test_client record 3
    hang
    bin/service_test_client wrong descriptor >said
    bin/service_test_client wrong 'short command' >said
    [[ $* == *calltrace* ]] || # that is for programs on this system alone
        bin/tcp_test_client run/umbra/default.rendezvous record 3
    bin/tcp_test_client run/umbra/default.rendezvous wrong secret >said
    call_trace_service list >said
    call_trace_service pause >said
    call_trace_service resume >said
    call_trace_service snapshot --pid="$victim" --output=copy.bin >said
    kill -HUP "$(<run/umbra/default.lock)"
    kill_hanging
    call_trace_service status --json >said
    call_trace_service stop >said
    wait_for all_ended "$1"
}

is_running()
{
    call_trace_service list 2>/dev/null | grep -q "$1.*running"
}

if strace -o traced true 2>/dev/null; then
    life profile --verbose --log-file=log
    life calltrace --mode=calltrace --log-file=log
    # A service that is killed: its keeper takes a snapshot, the next service adopts. That one is
    # killed, too: its keeper completes the trace.
    serve killed
    hang
    kill -KILL "$(<run/umbra/default.lock)"
    empty=$(stat -c %s life/*-"$victim"-*.bin)
    wait_for eval "((\$(stat -c %s life/*-$victim-*.bin) > $empty))"
    serve again
    wait_for is_running "$victim"
    kill -KILL "$(<run/umbra/default.lock)"
    kill_hanging
    wait_for all_ended killed
    wait_for all_ended again
    contains <(bin/service_test_client show life/*-"$victim"-*.bin) 'end_how=2 end_code=9'
    permitted | sort -u >permitted
    sed -E 's/^[0-9]+ +(<\.\.\. )?([a-z0-9_]+).*/\2/; /^[0-9]/d' ./*.calls | sort -u >made
    (($(wc -l <made) > 50)) || fail "strace has seen only these: $(<made)"
    echo "$(wc -l <made) system calls of $(wc -l <permitted) that are permitted"
    comm -23 made permitted >refused
    [[ ! -s refused ]] || fail "the service needs what the unit refuses: $(tr '\n' ' ' <refused)"
else
    echo "skipped: no process may trace another here"
fi

echo '-- under a systemd of its user'
((EUID == 0)) || { echo "skipped: only root can start a systemd for another user"; exit 0; }
user=64321
mkdir -m 700 user_run
call_trace_service spawn --trace-dir=spawned
samples=$(call_trace_service status | grep '^samples:')
call_trace_service stop >/dev/null

# What is refused and what is not, tried from inside: "NAME refused", or "NAME allowed"
cat >bin/fence.py <<'END'
import ctypes
import mmap
import os
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)


def call(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")


def attempt(name, action):
    try:
        action()
        print(name, "allowed")
    except OSError:
        print(name, "refused")


def child():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def set_user_id():
    with open(sys.argv[1] + "/set_user_id", "w") as file:
        os.chmod(file.fileno(), 0o4700)


attempt("user-namespace", lambda: call(libc.unshare(0x10000000)))
attempt("ptrace", lambda: call(libc.ptrace(0, 0, 0, 0)))
attempt("write-and-execute", lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC))
attempt("set-user-id", set_user_id)
attempt("personality", lambda: call(libc.personality(0x40000)))
attempt("chown", lambda: os.chown(sys.argv[1], os.getuid(), -1))
attempt("internet-6", lambda: socket.socket(socket.AF_INET6))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("internet-4", lambda: socket.socket(socket.AF_INET).bind(("127.0.0.1", 0)))
attempt("fork", child)
attempt("memory-file", lambda: os.memfd_create("x"))
END
sed "s|^ExecStart=.*|ExecStart=/usr/bin/python3 $work/bin/fence.py $work/home|
    s|^Type=.*|Type=oneshot|; /^Restart=/d; /^Requires=/d
    /^\[Service\]/aStandardOutput=file:$work/home/fence" "$unit" >"$units/fence.service"

cat >bin/session <<'END'
set -eu
systemctl --user start call_trace_service.socket
[[ $(stat -c %a "$XDG_RUNTIME_DIR/umbra/default.socket") == 600 ]]
cd instrumented
./samples >"$HOME/samples.out"
cd ..
bin/service_test_client hang 2 >"$HOME/ready" &
until grep -qs ready "$HOME/ready"; do sleep 0.02; done
bin/tcp_test_client "$XDG_RUNTIME_DIR/umbra/default.rendezvous" record 3
bin/call_trace_service snapshot --pid=$! --output="$HOME/snapshot.bin" >"$HOME/said"
bin/call_trace_service pause
bin/call_trace_service resume
kill -SEGV $!
until bin/call_trace_service status | grep -q '^sessions: 0 running'; do sleep 0.02; done
bin/call_trace_service status
bin/call_trace_service list
grep -E '^(NoNewPrivs|Seccomp):' "/proc/$(systemctl --user show -P MainPID call_trace_service)/status"
# A program outlives the service: the next service has it, and then a keeper.
bin/service_test_client hang 2 >"$HOME/ready" &
left=$!
until grep -q ready "$HOME/ready"; do sleep 0.02; done
systemctl --user stop call_trace_service.service
bin/call_trace_service list | grep "$left.*running"
systemctl --user stop call_trace_service.service
kill "$left"
trace=$(find "$HOME" -name "service_test_client-$left-*.bin")
for ((i = 0; i < 500; i++)); do
    bin/service_test_client show "$trace" >"$HOME/shown"
    ! grep -q end_how=2 "$HOME/shown" || break
    sleep 0.02
done
grep -o 'end_how=2 end_code=15' "$HOME/shown"
systemctl --user show -P Result call_trace_service.service
systemctl --user start fence.service || systemctl --user show -P ExecMainStatus fence.service
END

# In a world of its own: /run says that systemd is here, /etc/passwd knows the user.
cat >world <<'END'
set -eu
{ cat /etc/passwd; echo "umbra-test:x:$user:$user::$work/home:/bin/sh"; } >passwd
mount --bind passwd /etc/passwd
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir "$group"
chown -R "$user" "$group" home user_run
as_user=(setpriv --reuid="$user" --regid="$user" --clear-groups env -i HOME="$work/home"
    XDG_RUNTIME_DIR="$work/user_run" PATH=/usr/bin:/bin LC_ALL=C.UTF-8)
(
    echo "$BASHPID" >"$group/cgroup.procs"
    exec "${as_user[@]}" /lib/systemd/systemd --user --log-target=console >manager 2>&1
) &
for ((i = 0; i < 200; i++)); do
    state=$("${as_user[@]}" systemctl --user is-system-running 2>/dev/null || true)
    [[ $state != running && $state != degraded ]] || break
    sleep 0.05
done
[[ $state == running || $state == degraded ]] || exit 77
"${as_user[@]}" timeout 60 bash bin/session >session.out 2>session.err
END
status=0
user=$user work=$work group=/sys/fs/cgroup/umbra-test-$$ \
    unshare --mount --pid --fork --mount-proc --kill-child bash world 2>world.err || status=$?
remove_group()
{
    local top
    for top in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        find "$top/umbra-test-$$" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
    [[ ! -e /sys/fs/cgroup/umbra-test-$$ && ! -e /sys/fs/cgroup/unified/umbra-test-$$ ]]
}
wait_for remove_group
if [[ ! -e session.out ]]; then
    echo "skipped: systemd --user does not run here: $(tail -n 1 world.err manager 2>/dev/null | tr '\n' ' ')"
    exit 0
fi
((status == 0)) || { cat session.out session.err manager >&2; fail "the session ended with $status"; }
contains session.out '^NoNewPrivs:.1$'
contains session.out '^Seccomp:.2$'
contains session.out "^$samples" # as outside
equal "how the service ended" "$(tail -n 1 session.out)" success # systemd's word for it
equal "how the test clients ended" "$(awk -F '\t' '$3 ~ /client|program/ { print $5 }' session.out)" 'signal 11
ended
running'
mv "$(dirname "$(find home/.config/umbra home/.local/state/umbra -name 'samples-*-1.bin' 2>/dev/null)")" traces
equal "owner and modes" "$(stat -c '%u %a' traces traces/*.bin | sort -u)" "$user 600
$user 700"
equal "traces" "$(traces_left)" 5
rm traces/s*client-*.bin traces/some_program* # of no calls: those that made them are no programs
balanced
contains summary " $work/instrumented/samples\$|  ./samples\$"
bin/service_test_client show traces/samples-*-1.bin >shown
contains shown "^exe=$work/instrumented/samples\$" # read in /proc
if [[ $samples == *' a second'* ]]; then
    contains summary '^  samples   [0-9]+: [0-9.]+% in functions'
fi
cat home/fence
equal "what is refused" "$(sed -n 's/ refused//p' home/fence | tr '\n' ' ')" \
    'user-namespace ptrace write-and-execute set-user-id personality chown internet-6 netlink '
equal "what is allowed" "$(sed -n 's/ allowed//p' home/fence | tr '\n' ' ')" \
    'internet-4 fork memory-file '
