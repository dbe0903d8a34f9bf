#!/bin/bash
# The cache of instrumented files: what lies in it is bound only over the file that it was made of, and
# only for those who may use that one; and a cache is used only where nobody else can put files.
# needs: gcc acl util-linux
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
chmod 755 "$work"

# program NAME TEXT: that prints TEXT
program()
{
    printf '#include <stdio.h>\nint main(void) { puts("%s"); return 0; }\n' "$2" >"$1.c"
    gcc -g "$1.c" -o "$1"
}

# record NAME PROGRAM: it prints what the file PROGRAM.says has; 20 s are enough even if it waits
record()
{
    timeout -k 5 20 "$umbra" record --quiet -o "$1.data" -- "./$2" >"$1.out" 2>"$1.said" ||
        fail "$1: status $?: $(<"$1.said")"
    equal "$1: output" "$(<"$1.out")" "$(<"$2.says")"
}

# entry_of NAME PROGRAM: the path in the cache of what the recording ran
entry_of()
{
    find cache/umbra/images -samefile "$1.data/images$work/$2" | head -n 1
}

program hello hello
program evil evil
./hello >hello.says
./evil >evil.says
record first hello
key=$(entry_of first hello)
[[ $(basename "$key") =~ ^[0-9a-f]{64}$ ]] || fail "a key is not of 256 bits: $key"
record evil evil
evil_key=$(entry_of evil evil)

# planted WHAT: it is not what was made of hello, so it is not bound, and made anew
planted()
{
    record planted hello
    contains planted.data/files "^instrumented	$work/hello	"
    [[ $(entry_of planted hello) == "$key" ]] || fail "$1: nothing new has the key"
    cmp -s "$key" good || fail "$1: stayed under the key"
    rm -rf planted.data planted.data.old
}
cp -p "$key" good

echo '-- under its key lies something else'
cp -p --remove-destination "$evil_key" "$key"
touch -r hello "$key"
planted 'a copy of another program'
cp -p --remove-destination evil "$key"
touch -r hello "$key"
planted 'a program that is not instrumented'
chmod 777 "$key"
planted 'its own with other permissions'
touch -d 2001-01-01 "$key"
planted 'its own with another time'
setfacl -m u:12345:rwx "$key"
planted 'its own with an access list'
cp -p good kept && ln -sf "$work/kept" "$key"
planted 'a link'
rm "$key" && mkfifo "$key"
planted 'a pipe'

echo '-- pipes and links in the place of its own files'
for name in limit lock; do
    rm -f cache/umbra/$name
    mkfifo cache/umbra/$name
done
rm "$key"
planted 'pipes'
timeout -k 5 20 "$umbra" cache >said || fail "umbra cache: status $?"
contains said ' of at most 4295\.0 MB$'
rm cache/umbra/limit cache/umbra/lock
echo words >words
ln -s "$work/words" cache/umbra/limit
"$umbra" cache --limit=1G >said
contains said ' of at most 1073\.7 MB$'
equal 'what a link led to' "$(<words)" words

echo '-- nothing goes but what the cache has made'
touch cache/umbra/images/letter
"$umbra" cache --clear >said
contains said ': 0 files'
equal 'left in the cache' "$(ls cache/umbra/images)" letter

echo '-- one who may not give files away'
# as_user COMMAND…: somebody else, if we are root
user=$((20000 + $$ % 20000 * 2))
cleanup()
{
    local status=$?
    set +e
    ((EUID != 0)) || rmdir "/tmp/umbra-$user/commands" "/tmp/umbra-$user" 2>/dev/null
    (exit "$status")
    end_of_script
}
trap cleanup EXIT
as_user=()
((EUID != 0)) || as_user=(setpriv --reuid=$user --regid=$user --clear-groups)
mkdir -m 755 home
mkdir -m 700 home/run
((EUID != 0)) || chown $user:$user home home/run
own_record()
{
    (cd home && XDG_CACHE_HOME=$work/home/cache XDG_RUNTIME_DIR=$work/home/run "${as_user[@]}" "$umbra" record --quiet -o own.data -- \
        sh -c '../hello; true' 2>&1) || true
}
equal 'a program that everybody may run' "$(own_record)" hello
contains home/own.data/files "^instrumented	$work/hello	"

((EUID == 0)) || { echo "skipped: other users, for want of rights"; exit 0; }

echo '-- the owner of a copy may do no more than he might with the original'
chmod 754 hello
equal 'a program that the user may only read' "$(own_record)" 'sh: 1: ../hello: Permission denied'
chmod 655 hello
equal 'a program that its owner may not run' "$(own_record)" hello
chmod 755 hello

echo '-- one owner'"'"'s is not another'"'"'s'
record mine hello
mine=$(entry_of mine hello)
touch -r hello time
chown $user hello
record theirs hello
theirs=$(entry_of theirs hello)
[[ $mine != "$theirs" ]] || fail "what was instrumented of root's file serves for a user's"
equal 'owners' "$(stat -c %u "$mine" "$theirs" | xargs)" "0 $user"
chown 0 hello
chown $user "$mine"
record mine hello
equal 'the owner of what is bound' "$(stat -c %u "$(entry_of mine hello)")" 0

echo '-- access lists'
other=$((user + 1))
# by_both: what root's recording lets both users do with ./hello
cat >both.sh <<END
./hello
for user in $user $other; do
    setpriv --reuid=\$user --regid=\$user --clear-groups sh -c './hello; head -c 4 ./hello | tail -c 3' 2>&1
done
END
setfacl -m u:$user:--- hello
sh both.sh >native.out
contains native.out 'Permission denied'
"$umbra" record --quiet -o denied.data -- sh both.sh >recorded.out
contains denied.data/files "^instrumented	$work/hello	"
diff native.out recorded.out || fail 'who was denied may, or the reverse'
# A recording on another file system has a copy of the copy.
mkdir elsewhere
if unshare -m mount -t tmpfs none elsewhere 2>/dev/null; then
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs none elsewhere
        "$1" record --quiet -o elsewhere/denied.data -- sh both.sh
        grep "/hello	" elsewhere/denied.data/files >left' sh "$umbra" >recorded.out
    contains left "^instrumented	$work/hello	"
    diff native.out recorded.out || fail 'of a copy on another file system: who was denied may'
fi
chmod 700 hello
setfacl -b -m u:$user:r-x hello
sh both.sh >native.out
"$umbra" record --quiet -o allowed.data -- sh both.sh >recorded.out
contains allowed.data/files "^instrumented	$work/hello	"
diff native.out recorded.out || fail 'who was allowed may not, or the reverse'
# A folder that gives what is made in it an access list.
setfacl -b hello
chmod 750 hello
setfacl -d -m u:$user:rwx cache/umbra/images
"$umbra" cache --clear >said
sh both.sh >native.out
"$umbra" record --quiet -o default.data -- sh both.sh >recorded.out
diff native.out recorded.out || fail 'a list of the folder lets in who was denied'
chmod 755 hello
# Where a copy can have none.
setfacl -m u:$user:--- hello
mkdir plain
if unshare -m mount -t ramfs none plain 2>/dev/null; then
    # shellcheck disable=SC2016
    XDG_CACHE_HOME=$work/plain unshare -m sh -c 'mount -t ramfs none plain
        "$1" record --quiet -o plain.data -- ./hello' sh "$umbra" >said
    equal 'output without access lists' "$(<said)" hello
    contains plain.data/files "^left	$work/hello	its owner and its permissions cannot be given to a copy: "
fi
setfacl -b hello

echo '-- a cache in a home of another user'
mkdir -m 755 victim
chown $user:$user victim
# refused WHERE WHY: root uses no cache there, and makes nothing
refused()
{
    XDG_CACHE_HOME=$1 "$umbra" record -o refused.data -- ./hello >recorded.out 2>said || fail "$1: $?"
    contains said "^umbra: $1/umbra: the cache cannot be used: $2; what is instrumented is kept in the recording alone\$"
    equal "$1: output" "$(<recorded.out)" hello
    contains refused.data/files "^instrumented	$work/hello	"
    for verb in --limit=0 --clear; do
        ! XDG_CACHE_HOME=$1 "$umbra" cache $verb >said 2>&1 || fail "$1: umbra cache $verb: $(<said)"
        contains said "^umbra: $1/umbra: the cache cannot be used: $2\$"
    done
}
refused "$work/victim/.cache" "is in a directory in which another user can rename things, $work/victim"
env -u XDG_CACHE_HOME HOME="$work/victim" "$umbra" record -o refused.data -- ./hello >recorded.out 2>said
equal 'what was made in the home' "$(ls -A victim)" ''

# A link of his in a folder where everybody may make names, to files of root's.
mkdir -m 1777 open
mkdir -p precious/umbra/images
touch "precious/umbra/images/$(printf %064d 1)" "precious/umbra/images/$(printf %032d 1)"
echo 0 >precious/umbra/limit
setpriv --reuid=$user --regid=$user --clear-groups ln -s "$work/precious" open/link
refused "$work/open/link" 'is reached by a link of another user'
equal 'what the link led to' "$(ls precious/umbra/images | wc -l)" 2
# Root's own is followed.
ln -s "$work/precious" root_link
XDG_CACHE_HOME=$work/root_link "$umbra" cache --clear >said
contains said "^$work/precious/umbra: 0 files"
# His folder there, before root has made it.
setpriv --reuid=$user --regid=$user --clear-groups mkdir -p -m 755 open/made
refused "$work/open/made" "is in a directory in which another user can rename things, $work/open/made"

echo '-- a group with a second member'
mkdir group
cp /etc/passwd /etc/group group
{
    echo "umbra-a:x:$user:$user::/nonexistent:/bin/sh"
    echo "umbra-b:x:$other:$other::/nonexistent:/bin/sh"
} >>group/passwd
mkdir -m 775 shared
chown $user:$user shared
# grouped MEMBERS GROUP_OF_B: what that user's own umbra says of a cache below a folder that the group
# may write
grouped()
{
    sed "/^umbra-/d" /etc/group >group/group
    echo "umbra-a:x:$user:$1" >>group/group
    sed -i "s/^umbra-b:.*/umbra-b:x:$other:$2::\/nonexistent:\/bin\/sh/" group/passwd
    rm -rf shared/*
    # shellcheck disable=SC2016
    XDG_CACHE_HOME=$work/shared unshare -m sh -c '
        mount --bind group/passwd /etc/passwd
        mount --bind group/group /etc/group
        user=$1 umbra=$2
        exec setpriv --reuid=$user --regid=$user --clear-groups "$umbra" cache' sh "$user" "$umbra" \
        >said 2>&1 || true
}
if unshare -m true 2>/dev/null; then
    why="the cache cannot be used: is in a directory in which another user can rename things, $work/shared\$"
    grouped '' $other
    contains said "^$work/shared/umbra: 0 files"
    grouped umbra-a $other
    contains said "^$work/shared/umbra: 0 files"
    grouped umbra-b $other
    contains said "$why"
    grouped umbra-gone $other
    contains said "$why"
    grouped '' $user
    contains said "$why"
    grouped '' $other
    setfacl -m u:$other:rwx shared
    grouped '' $other
    contains said "$why"
    setfacl -b shared
fi
# A user whom no database knows: nothing is known of his group either.
chmod 775 shared
! XDG_CACHE_HOME=$work/shared setpriv --reuid=$user --regid=$user --clear-groups "$umbra" cache >said 2>&1 ||
    fail "a group of which nothing is known: $(<said)"
contains said 'in which another user can rename things'

echo '-- what is kept is what was judged, whatever its name in the cache leads to by now'
cp evil hello.before
while [[ ! -e enough ]]; do
    for entry in cache/umbra/images/[0-9a-f]*; do
        cp --remove-destination hello.before "$entry"
    done
done 2>/dev/null &
started+=($!)
for ((i = 0; i < 10; i++)); do
    record swapped hello
    contains swapped.data/files "^instrumented	$work/hello	"
    "$BUILD/rewriter/instrument" --verify "swapped.data/images$work/hello" >verified ||
        fail 'something else was kept'
    rm -rf swapped.data swapped.data.old
done
touch enough
wait
rm -rf cache

echo '-- what instruments a hostile file has that file, and a folder of its own'
mkdir -p tools/{front,rewriter,service,grinder,hooks}
cp "$BUILD/front/umbra" tools/front/umbra
cp "$BUILD/service/call_trace_service" tools/service/
ln -s "$BUILD/grinder/grinder" tools/grinder/
cp "$AGENT" tools/hooks/libhooks.so
cat >tools/rewriter/instrument <<END
#!$BASH
for ((i = 1; i <= \$#; i++)); do
    [[ \${!i} != -o ]] || { j=\$((i + 1)); ls -A "\$(dirname "\${!j}")" >>"$work/beside"; }
done
(cd /proc/\$\$/fd && for file in *; do ((file < 3 || file == 255)) || readlink \$file; done) >>"$work/given"
exec "$BUILD/rewriter/instrument" "\$@"
END
chmod 755 tools/rewriter/instrument
program lonely lonely
./lonely >lonely.says
umbra=$work/tools/front/umbra record lonely lonely
contains lonely.data/files "^instrumented	$work/lonely	"
equal 'files beside what is made' "$(<beside)" ''
contains given "^$work/lonely$"
others=$(grep -E "^$work/(cache|lonely\.data)" given | grep -Ev '/part-[0-9a-f]+$' || true)
equal 'other descriptors of instrument' "$others" ''
equal 'parts left in the cache' "$(find cache -name 'part-*')" ''
mkdir -p cache/umbra/images/part-0
touch cache/umbra/images/part-0/image cache/umbra/images/part-1
umbra cache --limit=1M >limit.out
[[ -e cache/umbra/images/part-0/image && -e cache/umbra/images/part-1 ]] || fail 'what is being made was removed'
