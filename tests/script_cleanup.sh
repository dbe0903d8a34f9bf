#!/bin/bash
# A script that fails leaves nothing behind: neither its folder nor the services that it spawned.
. "$(dirname "$0")/lib.sh"

cat >fails.sh <<'END'
. "$TESTS/lib.sh"
call_trace_service spawn
call_trace_service spawn --instance-id=other
call_trace_service status --json --instance-id=other >status
echo "$work" "$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' status) $(<run/umbra/default.lock)"
fail "on purpose"
END
status=0
TESTS=$TESTS BUILD=$BUILD bash fails.sh >said 2>problems || status=$?
equal "status" "$status" 1
contains problems 'on purpose'
read -r folder other default <said
[[ $default && $other && $default != "$other" ]] || fail "no two services: $(<said)"
[[ ! -e $folder ]] || fail "$folder was left"
for process in "$other" "$default"; do
    if kill -0 "$process" 2>/dev/null; then
        started+=("$process")
        fail "service $process was left"
    fi
done
