#!/bin/bash
# A recorded sshd lets people in: its process that speaks to strangers runs under OpenSSH's own filter. Programs that
# the session starts are recorded, too.
# needs: openssh-server openssh-client
. "$(dirname "$0")/lib.sh"

((EUID == 0)) || { echo 'skipped: sshd wants to be started by root'; exit 0; }
export XDG_CACHE_HOME=$work/cache
mkdir -p /run/sshd
for key in host user; do ssh-keygen -q -t ed25519 -N '' -f $key; done
port=$((20000 + $$ % 20000))
cat >config <<END
Port $port
ListenAddress 127.0.0.1
HostKey $work/host
AuthorizedKeysFile $work/user.pub
PidFile $work/pid
StrictModes no
UsePAM no
END

"$BUILD/front/umbra" record -o sshd.data -- "$(command -v sshd)" -D -e -f "$work/config" >log 2>&1 &
recording=$!
started+=("$recording")
for ((try = 0; try < 400; try++)); do
    grep -q listening log && break
    sleep 0.05
done
for ((i = 0; i < 2; i++)); do
    timeout 60 ssh -p $port -i user -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile="$work/known" \
        -o LogLevel=ERROR 127.0.0.1 'exec /bin/echo hello' >out 2>said || { cat log said >&2; fail "nobody gets in"; }
    equal "what ssh printed" "$(<out)" hello
done
kill "$(<pid)"
wait "$recording" || true
! grep -i 'sigsys\|died of' log || fail "a process died"
"$BUILD/front/umbra" report --text sshd.data >summary || fail "the traces are not whole"
contains summary '^process [0-9]+  .*echo hello|/bin/echo'
