#!/bin/bash
# A debuginfod server may send what it likes: a file that is too large or too slow is left. Root asks no
# server and uses no folder of the user whose environment it has, and nobody writes through a link of others.
# needs: gcc binutils python3 libdebuginfod1 util-linux
. "$(dirname "$0")/lib.sh"

unset "${!DEBUGINFOD_@}" http_proxy https_proxy all_proxy no_proxy
export HOME=$work/home XDG_CACHE_HOME=$work/home/.cache
build counted "$TESTS/../samples/fib.c" -Wl,--build-id
mkdir home server
objcopy --only-keep-debug native/counted server/debug
strip native/counted
instrumented counted
recorded counted 10
cp "$BUILD/grinder/grinder" .

(cd server && exec python3 "$TESTS/programs/hostile_debuginfod.py" >port) &
started+=($!)
for ((wait = 0; wait < 200; wait++)); do
    [[ ! -s server/port ]] || break
    sleep 0.05
done
export DEBUGINFOD_URLS=http://127.0.0.1:$(<server/port)

user=54321
as_user=()
if ((EUID == 0)); then
    as_user=(setpriv --reuid=$user --regid=$user --clear-groups env)
    chmod 755 .
    chown -R $user:$user home traces native instrumented
fi

# summarised MODE [VARIABLE=VALUE]… [COMMAND…]: by the user, or by who COMMAND makes; leaves text and said
summarised()
{
    echo "$1" >server/mode
    : >server/asked
    rm -rf home/.cache # what did not come is not asked for again for ten minutes
    shift
    timeout -k 5 40 env "${as[@]}" "$@" ./grinder --mode=summary traces/*.bin >text 2>said ||
        fail "the grinder: status $?: $(<said)"
}

named()
{
    contains text '\bfib$'
    equal "$1: said" "$(<said)" ""
}

# left WHAT LINE
left()
{
    ! grep -qw fib text || fail "$1: a name from nowhere"
    equal "$1: lines" "$(wc -l <said)" 1
    contains said "$2"
}

# no file of the user's is larger than that, in KB
largest()
{
    local found
    found=$(find home -size "+${1}k")
    equal "larger than $1 KB" "$found" ""
}

as=("${as_user[@]}")
summarised real
named "an honest server"
equal "mode of the cache" "$(stat -c %a home/.cache/debuginfod_client)" 700

summarised announced
left "600 MB" '^grinder: DEBUGINFOD_URLS: the debug file of .*counted has more than 512\.0 MB, and is left$'
largest 1000
summarised endless DEBUGINFOD_MAXSIZE=3000000
left endless 'has more than 3\.0 MB, and is left$'
largest 3000
summarised packed DEBUGINFOD_MAXSIZE=3000000 # libdebuginfod takes it as one that is not there
largest 3000
summarised slow DEBUGINFOD_MAXTIME=2
left slow 'a file did not come within 2 s; separate debug files are looked for on this machine only$'

# A folder of others on the way: also where it leads back to one's own.
((EUID == 0)) || { echo "skipped: other users, for want of rights"; exit 0; }
stranger=54322
mkdir strange own
chown $stranger strange
chown $user own
ln -s "$work/own" strange/.cache
summarised real XDG_CACHE_HOME="$work/strange/.cache"
named "a link of others to one's own folder: it is judged by what it leads to"
mkdir -m 777 strange/open
summarised real DEBUGINFOD_CACHE_PATH="$work/strange/open/cache"
left "a folder of others" "strange: expected a folder of user $user or root that nobody else can write to, found one of user $stranger"
equal "what is in it" "$(ls -A strange/open)" ""
ln -s "$work/missing" own/dangling
chown -h $user own/dangling
summarised real DEBUGINFOD_CACHE_PATH="$work/own/dangling"
left "a link that leads nowhere" "own/dangling: expected a folder .*, found a symbolic link"
[[ ! -e missing ]] || fail "made through a link"

# Root with the user's environment: its servers, and a link in its cache that leads out.
id=$(readelf -n server/debug | sed -n 's/.*Build ID: //p')
mkdir target
mkdir -p planted/debuginfod_client
ln -s "$work/target" "planted/debuginfod_client/$id"
chown -hR $user:$user planted
export XDG_CACHE_HOME=$work/planted
as=()
summarised real SSLKEYLOGFILE="$work/target/keys" SUDO_UID=$user
left "root, the user's server" "root asks only servers that a file /etc/debuginfod/NAME\.urls of root names; separate"
equal "what was asked" "$(<server/asked)" ""
equal "what was written" "$(ls -A target)" ""

unshare -m true 2>/dev/null || { echo "skipped: root's own servers: no mount namespaces"; exit 0; }
[[ -d /etc/debuginfod ]] || { echo "skipped: root's own servers: no /etc/debuginfod"; exit 0; }
# as root that has this file in /etc/debuginfod, and an empty home
cat >with_list.sh <<'END'
set -e
mount -t tmpfs -o mode=755 none /etc/debuginfod
mount -t tmpfs -o mode=700 none "$(getent passwd 0 | cut -d: -f6)"
echo "$DEBUGINFOD_LISTED" >/etc/debuginfod/test.urls
[ ! "$LIST_OWNER" ] || chown "$LIST_OWNER" /etc/debuginfod/test.urls
"$@"
find "$(getent passwd 0 | cut -d: -f6)" -name debuginfo >kept
END
as=(unshare -m --propagation=private env "DEBUGINFOD_LISTED=$DEBUGINFOD_URLS/")
listed=(sh with_list.sh)
summarised real "DEBUGINFOD_URLS=http://127.0.0.1:1 $DEBUGINFOD_URLS" "${listed[@]}"
named "root's own server"
[[ -s server/asked && -s kept ]] || fail "root's server was not asked, or nothing is in root's cache"
equal "what was written" "$(ls -A target)" ""
summarised real LIST_OWNER=$user "${listed[@]}"
left "a list of the user's" "root asks only servers"
equal "what was asked" "$(<server/asked)" ""
