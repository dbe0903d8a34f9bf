#!/bin/bash
# Recorded processes of another user, or with fewer rights, read originals, of what the kernel lets them
# read: what they copy is what lies on the disk.
# needs: gcc util-linux
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello
chmod 755 "$work" hello

# same_recorded NAME SCRIPT: NAME.sh does the same natively and recorded; NAME.data is the recording.
same_recorded()
{
    cat >"$1.sh"
    sh "$1.sh" >"$1.native" 2>&1
    "$umbra" record -o "$1.data" -- sh "$1.sh" >"$1.recorded" 2>&1
    sed -i '/^umbra: /d' "$1.recorded"
    diff "$1.native" "$1.recorded" || fail "$1"
}

if ((EUID != 0)); then
    echo "skipped: other users, for want of rights"
    exit 0
fi

mkdir -m 777 theirs
as='setpriv --reuid=4711 --regid=4712 --clear-groups'
same_recorded copies <<END
./hello
/usr/bin/id >/dev/null
$as sh -c 'cp /usr/bin/id ./hello theirs; stat -c "%n %s %U" /usr/bin/id ./hello; cksum </usr/bin/id'
cksum theirs/id theirs/hello
$as theirs/hello
rm theirs/*
END
contains copies.data/files "^instrumented	$work/hello	"
contains copies.data/files "^instrumented	$work/theirs/hello	"

# Each of these is denied or allowed as it is natively: by the file, by a folder on the way, to a group,
# to who has a capability.
mkdir -m 700 shut
mkdir -m 750 grouped
mkdir -m 711 passed
for folder in shut grouped passed; do
    cp hello $folder/hello
done
chgrp 4713 grouped passed/hello
chmod 750 passed/hello
cp hello executed
chmod 711 executed
same_recorded rights <<END
for program in shut/hello grouped/hello passed/hello ./executed; do
    \$program
    for who in '--clear-groups' '--groups=4713' '--groups=1,4713,5' \
        '--clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search'; do
        echo "\$program \$who"
        setpriv --reuid=4711 --regid=4712 \$who cksum \$program
        setpriv --reuid=4711 --regid=4712 \$who stat -c '%n %s' \$program
        setpriv --reuid=4711 --regid=4712 \$who sh -c "\$program; true" | sed 's/^sh: .*: //'
    done
    setpriv --bounding-set=-all --inh-caps=-all cksum \$program
done
cd shut
$as cksum hello
$as cksum <hello
END
contains rights.native '^hello$'
contains rights.native 'Permission denied$'
for program in shut/hello grouped/hello passed/hello executed; do
    contains rights.data/files "^instrumented	$work/$program	"
done

# Who has not run it cannot have it instrumented either, where he may not execute it.
cp hello shut/other
same_recorded foreign <<END
$as sh -c 'shut/other; ./hello'
END
contains foreign.data/files "^instrumented	$work/hello	"
! grep -F shut/other foreign.data/files || fail "what may not be executed was instrumented"

# An ordinary user who records does not read his own file either, if he may not.
if setpriv --reuid=4711 --regid=4712 --clear-groups unshare -Ur true 2>/dev/null; then
    cd theirs
    cp ../hello own
    chown 4711 own
    chmod 111 own
    cat >own.sh <<'END'
./own
cat ./own
stat -c %s ./own
END
    $as sh own.sh >own.native 2>&1
    env XDG_CACHE_HOME="$work/theirs/cache" XDG_RUNTIME_DIR= $as "$umbra" record -o own.data -- sh own.sh >own.recorded 2>&1
    sed -i '/^umbra: /d' own.recorded
    diff own.native own.recorded || fail "an ordinary user's own file"
fi
