#!/bin/bash
# Nothing that a recorded program does stops the others: not a path that leads to a file system which the
# recording itself serves, or which never answers, nor a file whose instrumentation takes long or too much.
# needs: perl util-linux coreutils
# seconds: 30
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello

# Programs of its own, so that what hangs can be found and ended. `instrument` makes the file `begun` for
# files named slow, and waits for `go`.
mkdir -p tools/{front,rewriter,service,grinder,hooks}
cp "$BUILD/front/umbra" tools/front/umbra
cp "$BUILD/service/call_trace_service" tools/service/
ln -s "$BUILD/grinder/grinder" tools/grinder/
cp "$AGENT" tools/hooks/libhooks.so
cat >tools/rewriter/instrument <<END_OF_SCRIPT
#!/bin/sh
echo >>"$work/tried"
case "\$(readlink -f "\$(eval echo "\\\$\$#")")" in
*/crashes) kill -SEGV \$\$ ;;
*/eats) perl -e '\$x = "x" x (600 << 20)' 2>/dev/null ||
    { printf 'umbra-result=1\\noutcome=failed\\nreason=memory\\ntext=out of memory\\nend\\n' >"/dev/fd/\${1#*=}"; exit 1; } ;;
*/fills) exec head -c 100000000 /dev/zero >"$work/filled" ;;
*/slow)
    echo >>"$work/begun"
    while [ ! -e "$work/go" ]; do sleep 0.05; done ;;
esac
exec "$BUILD/rewriter/instrument" "\$@"
END_OF_SCRIPT
chmod 755 tools/rewriter/instrument
umbra=$work/tools/front/umbra

end_own_processes()
{
    local program
    for program in /proc/[0-9]*; do
        [[ $(readlink "$program/exe") != "$work"/* ]] || kill -9 "${program#/proc/}"
    done 2>/dev/null || true
}

# ends COMMAND…: by itself, and says what it says in `out`; the limit is for what hangs.
ends()
{
    local status=0
    timeout -k 1 "${LIMIT:-50}" "$@" >out 2>said </dev/null || status=$?
    ((status != 124 && status != 137)) || { touch go; end_own_processes; fail "hangs: $*"; }
    return "$status"
}

# While one file is instrumented, others are executed, instrumented and not; who needs the same file
# waits for it, and it is instrumented once.
cp hello slow
cp hello quick
cat >beside.sh <<'END'
./slow &
./slow &
while [ ! -e begun ]; do sleep 0.05; done
./quick
perl -e 'print "perl\n"'
touch go
wait
END
ends "$umbra" record -o beside.data -- sh beside.sh
equal "beside" "$(tr '\n' ' ' <out)" "hello perl hello hello "
for name in slow quick; do
    equal "$name" "$(grep -c "^instrumented	$work/$name	" beside.data/files)" 1
done
equal "instrument for slow" "$(wc -l <begun)" 1

# What instrument may use goes by what a file takes on the disk. What it cannot do is remembered, with
# the limit that it met.
# left_for NAME REASON: it runs, and is left for that reason, also when `instrument` could do better.
left_for()
{
    local tried
    ends "$umbra" record -o "$1.data" -- "./$1"
    equal "$1" "$(<out)" hello
    contains "$1.data/files" "^left	$work/$1	$2\$"
    tried=$(wc -l <tried)
    ends "$umbra" record -o "$1.again.data" -- "./$1"
    contains "$1.again.data/files" "^left	$work/$1	$2\$"
    equal "tries" "$(wc -l <tried)" "$tried"
}

for name in sparse holes crashes eats fills; do
    cp hello $name
done
truncate -s 1900M sparse
truncate -s 600M holes
left_for sparse 'cannot map its [0-9]+ bytes: Cannot allocate memory; it may use 1536 MB'
left_for holes 'instrument wrote more than 320 MB'
left_for crashes 'instrument crashed \(signal 11\)'
left_for eats 'out of memory; it may use 512 MB'
left_for fills 'instrument wrote more than 64 MB'

((EUID == 0)) && [[ -w /dev/fuse ]] || { echo "skipped: file systems that the recording serves"; exit 0; }
build fuse_server fuse_server.c
mkdir mnt
fuse=(native/fuse_server mnt hello)
unshare --mount "${fuse[@]}" true || { echo "skipped: no file system can be served here"; exit 0; }

# It opens files while another program waits for it.
cat >served.sh <<'END'
cat mnt/program | cmp - hello && echo same
stat -c %s mnt/program
[ -e mnt/nothing ] || echo nothing
mnt/program
mnt/program
END
unshare --mount "${fuse[@]}" sh served.sh >native.out
contains native.out '^hello$'
ends "$umbra" record -o served.data -- "${fuse[@]}" sh served.sh
cmp native.out out
contains served.data/files "^instrumented	$work/mnt/program	"

# It never answers, to more than there are threads.
cat >silent.sh <<'END'
i=0
while [ $i -lt 40 ]; do
    stat mnt/silent$i &
    i=$((i + 1))
done
mnt/silent &
./quick
cat mnt/program | cmp - hello && echo same
perl -e 'print "perl\n"'
END
ends "$umbra" record -o silent.data -- "${fuse[@]}" sh silent.sh
equal "beside what never answers" "$(tr '\n' ' ' <out)" "hello same perl "

# Who confines himself while all threads are stuck stays confined when they are not.
cat >confines.c <<'END_OF_SOURCE'
/* By Landlock, without a right to read; then opens `quick` when there is a file `freed`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    struct landlock_ruleset_attr wish = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
    const int rules = syscall(SYS_landlock_create_ruleset, &wish, sizeof(wish), 0);
    struct stat status;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (rules < 0 || syscall(SYS_landlock_restrict_self, rules, 0) < 0) {
        puts("no Landlock");
        return 0;
    }
    puts("confined");
    fflush(stdout);
    while (stat("freed", &status) < 0)
        usleep(10000);
    puts(open("quick", O_RDONLY) < 0 && errno == EACCES ? "reads nothing" : "reads it");
    return 0;
}
END_OF_SOURCE
gcc confines.c -o confines
mkfifo ended
cat >stuck.sh <<'END'
./quick
i=0
while [ $i -lt 40 ]; do
    stat mnt/silent$i 2>/dev/null &
    i=$((i + 1))
done
while cmp -s quick hello; do sleep 0.1; done
./confines >confines.out &
while ! grep -q . confines.out; do sleep 0.1; done
kill -9 $PPID
while ! cmp -s quick hello; do sleep 0.1; done
touch freed
wait $!
echo >ended
END
timeout -k 1 50 "$umbra" record -o stuck.data -- "${fuse[@]}" sh stuck.sh >out 2>said </dev/null &
timeout 55 cat ended >/dev/null || { end_own_processes; fail 'hangs: stuck.sh'; }
wait $! || true
grep -qx 'no Landlock' confines.out ||
    equal 'who confined himself meanwhile' "$(tr '\n' ' ' <confines.out)" 'confined reads nothing '

# The supervisor's worker is killed, and stays, as its threads wait for what never answers.
cat >killed.sh <<'END'
stat mnt/silent &
sleep 0.2
"$killer"
cat mnt/program | cmp - hello && echo same
END
cat >kill_worker <<'END'
#!/bin/bash
# It is the one with threads.
for process in /proc/[0-9]*; do
    [[ $(readlink "$process/exe") == "$umbra" ]] || continue
    tasks=("$process"/task/*)
    ((${#tasks[@]} < 2)) || { kill -9 "${process#/proc/}" && echo killed; }
done 2>/dev/null
END
chmod 755 kill_worker
export umbra killer=$work/kill_worker
ends "$umbra" record -o killed.data -- "${fuse[@]}" sh killed.sh
equal "after the worker" "$(tr '\n' ' ' <out)" "killed same "
