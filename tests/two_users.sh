#!/bin/bash
# Two users: the attacker puts a service of his own wherever the victim's agent may look for one. He
# gets no word and no call, and the victim's programs run as they do natively. Programs that have
# more rights than whoever executes them, and programs that the kernel lets no user debug, do not
# look for a service at all.
# needs: strace util-linux libcap2-bin
# seconds: 15
. "$(dirname "$0")/lib.sh"

((EUID == 0)) || { echo 'skipped: only root can be two users'; exit 0; }

attacker=$((20000 + $$ % 20000 * 2)) victim=$((attacker + 1))
as_attacker=(setpriv --reuid=$attacker --regid=$attacker --clear-groups)
as_victim=(setpriv --reuid=$victim --regid=$victim --clear-groups)
ours=/tmp/umbra-$victim # where the agent looks without XDG_RUNTIME_DIR
unset XDG_RUNTIME_DIR

cleanup()
{
    local status=$?
    set +e
    hostile_ends
    rm -rf "$ours"
    [[ ! ${UMBRA_INSTANCE_ID:-} ]] || ./call_trace_service stop >/dev/null
    [[ ! ${made_root_folder:-} ]] || rmdir /tmp/umbra-0
    (exit "$status")
    end_of_script
}
[[ ! -e $ours && ! -L $ours ]] || fail "$ours is there already"
trap cleanup EXIT

wait_for()
{
    local try
    for try in $(seq 300); do
        if eval "$1"; then return; fi
        sleep 0.02
    done
    fail "waited in vain for: $1"
}

# hostile_begins USER SOCKET silent | OWNER [RING_OWNER]: as programs/hostile_service.c has it, for
# instrumented/$program
hostile_begins()
{
    local user=$1 socket=$2 stolen
    shift 2
    stolen=$(nm "native/$program" | awk '$3 == "stolen" { print $1 }')
    [[ $1 == silent ]] || set -- "$stolen" "$@"
    : >log/hostile
    setpriv --reuid="$user" --regid="$user" --clear-groups ./hostile_service "$socket" "$@" \
        >log/hostile &
    hostile=$!
    started+=("$hostile")
    wait_for 'grep -q ready log/hostile'
}

hostile_ends()
{
    [[ ${hostile:-} ]] || return 0
    kill "$hostile" 2>/dev/null || true
    wait "$hostile" 2>/dev/null || true
    hostile=
}

# robbed WHAT COMMAND…: somebody has the program call what it does not call
robbed()
{
    local what=$1
    shift
    LIMIT=60 run instrumented "$@" wait
    equal "$what" "$(<instrumented.stdout) $(<instrumented.status)" 'stolen 66'
}

# safe WHAT COMMAND…: it does what the native program does
safe()
{
    local what=$1
    shift
    run instrumented "$@"
    compare_runs "$what"
}

# untouched WHAT: nobody so much as connected
untouched()
{
    equal "$1: the hostile service" "$(<log/hostile)" ready
}

# unheard WHAT: nobody said a word
unheard()
{
    ! grep heard log/hostile || fail "$1: the hostile service heard that"
}

traced=(strace -f -qq -o "$work/log/strace" -e trace=connect,sendto,poll,recvmsg)

# traced_calls NAME…: of these system calls, how many were made
traced_calls()
{
    grep -Ec "^[0-9]+ +($(IFS='|'; echo "$*"))\(" log/strace || true
}

# not_asked WHY WHAT: nor does the tool speak to it
not_asked()
{
    ! "${as_victim[@]}" ./call_trace_service status >said 2>&1 || fail "$2 was asked: $(<said)"
    contains said "$1"
    unheard "$2"
}

# What everybody has to read, and a folder of either.
chmod 0711 "$work"
install -m 0755 "$AGENT" "$BUILD/service/call_trace_service" .
AGENT=$work/libhooks.so
"${as_victim[@]}" test -x call_trace_service || { echo "skipped: others cannot get at $work"; exit 0; }
mkdir -m 0777 log
"${as_victim[@]}" test -w log || chmod 0777 log
mkdir -m 0700 of_attacker of_victim
chown $attacker:$attacker of_attacker
chown $victim:$victim of_victim
gcc -O1 -I"$TESTS/programs" -I"$TESTS/.." "$TESTS/programs/hostile_service.c" -o hostile_service

build dynamic robbed.c -no-pie
instrumented dynamic --exclude=stolen
build static robbed.c -static
instrumented static --exclude=stolen
run native ./dynamic

echo '-- one user with a service of his own'
XDG_RUNTIME_DIR=$work/of_victim "${as_victim[@]}" ./call_trace_service spawn \
    --trace-dir=of_victim/traces
for program in dynamic static; do
    safe "$program" env XDG_RUNTIME_DIR="$work/of_victim" "${as_victim[@]}" "./$program"
done
XDG_RUNTIME_DIR=$work/of_victim "${as_victim[@]}" ./call_trace_service stop >said
contains said 'traces completed: 2,'

echo '-- what is tried below works where it is one user, or root'
"${as_attacker[@]}" mkdir -m 0700 of_attacker/umbra
for program in dynamic static; do
    hostile_begins $attacker of_attacker/umbra/default.socket $attacker
    robbed "$program, of its own user" env XDG_RUNTIME_DIR="$work/of_attacker" \
        "${as_attacker[@]}" "./$program"
    hostile_ends
    rm of_attacker/umbra/default.socket
done
program=dynamic
"${as_victim[@]}" mkdir -m 0700 "$ours"
hostile_begins 0 "$ours/default.socket" 0
robbed "by root" "${as_victim[@]}" ./dynamic
hostile_ends
rm -r "$ours"

# squatted WHAT: the folder is there already, with a service in it; what it is like is the caller's
squatted()
{
    local kind
    for kind in silent "$attacker"; do
        hostile_begins $attacker "$ours/default.socket" "$kind"
        safe "$1, $kind" "${as_victim[@]}" "${traced[@]}" ./dynamic
        untouched "$1, $kind"
        equal "$1, $kind: calls to find a service" "$(traced_calls connect sendto poll recvmsg)" 0
        not_asked "expected a directory of user $victim or root with mode 0700" "$1, $kind"
        untouched "$1, $kind, asked for its status"
        hostile_ends
        rm "$ours/default.socket"
    done
}

echo '-- the folder'
"${as_attacker[@]}" mkdir -m 0755 "$ours"
squatted "the attacker's folder"
rm -r "$ours"

"${as_attacker[@]}" mkdir -m 0755 of_attacker/squat
chmod 0711 of_attacker
"${as_attacker[@]}" ln -s "$work/of_attacker/squat" "$ours"
squatted "the attacker's symbolic link"
hostile_begins $attacker of_attacker/squat/default.socket $attacker
chown $victim of_attacker/squat
chmod 0700 of_attacker/squat
safe "a symbolic link to the victim's folder" "${as_victim[@]}" ./dynamic
untouched "a symbolic link to the victim's folder"
hostile_ends
rm -r "$ours" of_attacker/squat
chmod 0700 of_attacker

mkdir "$ours"
chmod 0777 "$ours"
squatted "root's folder, open to all"
chown $victim "$ours"
squatted "the victim's folder, open to all"
rm -r "$ours"

echo '-- the peer: a socket of the attacker where he cannot have put it, but by a rename in time'
"${as_victim[@]}" mkdir -m 0700 "$ours"
for kind in silent "$attacker"; do
    hostile_begins $attacker of_attacker/moved "$kind"
    mv of_attacker/moved "$ours/default.socket"
    safe "the attacker's socket, $kind" "${as_victim[@]}" "${traced[@]}" ./dynamic
    unheard "the attacker's socket, $kind"
    equal "$kind: words and waits" "$(traced_calls sendto poll recvmsg)" 0
    not_asked "expected a service of user $victim or root" "the attacker's socket, $kind"
    hostile_ends
done

echo '-- the files: a service of root hands on what is another'"'"'s'
for owners in "$attacker" "$victim $attacker"; do
    rm "$ours/default.socket"
    # shellcheck disable=SC2086
    hostile_begins 0 "$ours/default.socket" $owners
    safe "files of $owners" "${as_victim[@]}" ./dynamic
    contains log/hostile heard
    hostile_ends
done
rm -r "$ours"

# give_rights HOW FILE: and the attacker lets in who has them
give_rights()
{
    case $1 in
        set-uid) chmod 4755 "$2" ;;
        set-uid-victim) chown $victim "$2" && chmod 4755 "$2" && chmod 0711 of_attacker{,/umbra} ;;
        set-gid) chown :$victim "$2" && chmod 2755 "$2" ;;
        capabilities) setcap cap_net_raw+ep "$2" ||
            { echo "skipped: no file capabilities in $work"; return 1; } ;;
    esac
}

# by_attacker COMMAND: with an environment of his choice; the shell has no rights left of setpriv's
by_attacker=(env "XDG_RUNTIME_DIR=$work/of_attacker" UMBRA_INSTANCE_ID=mine UMBRA_REQUIRED=1
    "${as_attacker[@]}" sh -c 'exec "$0"')

more_rights()
{
    local how
    for how in set-uid set-uid-victim set-gid capabilities; do
        cp "instrumented/$program" "instrumented/$how"
        give_rights $how "instrumented/$how" || continue
        hostile_begins $attacker of_attacker/umbra/mine.socket $attacker
        safe "$program, $how" "${by_attacker[@]}" "./$how"
        untouched "$program, $how"
        hostile_ends
        rm of_attacker/umbra/mine.socket
        safe "$program, $how, without a service" "${by_attacker[@]}" "./$how"
        chmod 0700 of_attacker{,/umbra}
    done
}

echo '-- more rights than whoever executes it'
if [[ $(findmnt -no OPTIONS -T "$work") == *nosuid* ]]; then
    echo "skipped: $work is mounted nosuid"
else
    for program in dynamic static; do more_rights; done
    program=dynamic
fi

echo '-- root, with a user'"'"'s environment'
hostile_begins $attacker of_attacker/umbra/mine.socket $attacker
safe root env XDG_RUNTIME_DIR="$work/of_attacker" UMBRA_INSTANCE_ID=mine ./dynamic
untouched root
hostile_ends
rm of_attacker/umbra/mine.socket
export XDG_RUNTIME_DIR=$work/of_attacker
"${as_attacker[@]}" ./call_trace_service spawn --trace-dir=of_attacker/traces
safe "root, at a user's service" ./dynamic
! ./call_trace_service status >said 2>&1 || fail "root asked a user's service: $(<said)"
contains said 'expected a directory of user 0 or root'
"${as_attacker[@]}" ./call_trace_service stop >said
contains said 'traces completed: 0,'
rmdir of_attacker/umbra
! ./call_trace_service spawn >said 2>&1 || fail 'root serves where a user can replace its folder'
contains said 'of_attacker: expected a directory of user 0 or root'
unset XDG_RUNTIME_DIR

echo '-- whom the kernel lets no user debug'
hostile_begins $victim of_victim/umbra/default.socket $victim
export XDG_RUNTIME_DIR=$work/of_victim
safe "capabilities that are kept" "${as_victim[@]}" \
    --inh-caps=+net_raw --ambient-caps=+net_raw ./dynamic
untouched "capabilities that are kept"
chmod 0711 instrumented/dynamic
safe "a program that is not to be read" "${as_victim[@]}" sh -c 'exec ./dynamic'
untouched "a program that is not to be read"
chmod 0755 instrumented/dynamic
hostile_ends
unset XDG_RUNTIME_DIR

# A child that was root has in memory what root had; root's service records its parent.
export UMBRA_INSTANCE_ID=two-users-$$
[[ -e /tmp/umbra-0 ]] || made_root_folder=yes
"${as_victim[@]}" mkdir -m 0700 "$ours"
hostile_begins $victim "$ours/$UMBRA_INSTANCE_ID.socket" $victim
./call_trace_service spawn --trace-dir=traces
run native ./dynamic fork $victim
safe "a child of root's" ./dynamic fork $victim
untouched "a child of root's"
./call_trace_service stop >said
# where bodies are copied, the child begins while it is still root
contains said 'traces completed: [12],'
