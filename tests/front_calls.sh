#!/bin/bash
# What a call on a file that was bound over returns is what it returns natively, however it is spelled:
# by symbolic links, with flags that hardly any program gives. Then 10,000 such calls that SEED chooses,
# with hostile arguments (programs/hostile_calls.c); long/hostile_calls.sh has more.
# needs: gcc
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
echo 'int main(void) { return 7; }' >program.c
gcc program.c -o program
cat >spelled.c <<'END_OF_SOURCE'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

static const char *program;

/* The next call finds it bound over. */
static void run(void)
{
    if (fork() == 0) {
        execl(program, program, NULL);
        _exit(127);
    }
    wait(NULL);
}

static void show(const char *what, int result)
{
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    run();
}

static void show_stat(const char *what, int result, const struct stat *stat)
{
    printf("%s: %ld\n", what, result < 0 ? -errno : (long)stat->st_size);
}

static void show_statx(const char *what, int result, const struct statx *statx)
{
    printf("%s: %ld\n", what, result < 0 ? -errno : (long)statx->stx_size);
}

int main(int count, char **arguments)
{
    const struct timespec times[] = {{1000, 0}, {1000, 0}};
    const struct timeval old_times[] = {{1000, 0}, {1000, 0}};
    const struct utimbuf oldest_times = {1000, 1000};
    struct stat stat;
    struct statx statx_;
    char *link = arguments[count - 1];

    program = arguments[count - 2];
    run();
#define STAT(flags)  show_stat("fstatat " #flags, fstatat(AT_FDCWD, program, &stat, flags), &stat)
#define STATX(flags) show_statx("statx " #flags, statx(AT_FDCWD, program, flags, 0x7ff, &statx_), &statx_)
    STAT(0);
    STAT(AT_EMPTY_PATH);
    STAT(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
    STAT(AT_SYMLINK_FOLLOW);
    STAT(2);
    STATX(0);
    STATX(AT_EMPTY_PATH);
    STATX(2);
    STATX(AT_STATX_SYNC_TYPE);
    show("faccessat2", (int)syscall(SYS_faccessat2, AT_FDCWD, program, W_OK, 2));
#define CALL(call) show(#call, (int)(call))
    CALL(chmod(link, 0711));
    CALL(fchmodat(AT_FDCWD, link, 0755, 0));
    CALL(chown(link, -1, getegid()));
    CALL(lchown(link, -1, getegid()));
    CALL(fchownat(AT_FDCWD, link, -1, getegid(), AT_SYMLINK_NOFOLLOW));
    CALL(fchownat(AT_FDCWD, link, -1, getegid(), 0));
    CALL(utime(link, &oldest_times));
    CALL(utimes(link, old_times));
    CALL(utimensat(AT_FDCWD, link, times, 0));
    CALL(utimensat(AT_FDCWD, link, times, AT_SYMLINK_NOFOLLOW));
    CALL(futimesat(AT_FDCWD, link, old_times));
    CALL(setxattr(link, "user.a", "value", 5, 0));
    CALL(removexattr(link, "user.a"));
    CALL(setxattr(program, "user.a", "value", 5, 0));
    CALL(lremovexattr(program, "user.a"));
    CALL(linkat(AT_FDCWD, link, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
    CALL(truncate(link, 100000));
    return 0;
}
END_OF_SOURCE
gcc spelled.c -o spelled 2>warnings
ln -s program link
cp -p program kept
./spelled ./program ./link >native.calls
contains native.calls '^linkat.*: done$'
rm -f program linked
cp -p kept program
"$umbra" record -o spelled.data -- ./spelled ./program ./link >recorded.calls 2>said
contains spelled.data/files "^instrumented	$work/program	"
diff native.calls recorded.calls >&2 || fail "calls returned something else"
cp -p kept program

# Root records programs that can do anything. What they name is in their folder; should a name ever lead
# out, it is seen here.
outside() { stat -c '%n %a %u %g' / /tmp /proc "$TESTS" "$work"; }

# hostile_calls WHO SEED COUNT COMMAND…: in a folder of WHO's own
hostile_calls()
{
    local who=$1 seed=$2 count=$3 run
    shift 3
    echo "$who: seed $seed"
    mkdir -m 0777 "$who"
    for run in native recorded; do
        rm -rf "$who"/scene # its attributes would stay
        mkdir -m 0777 "$who/scene"
        [[ $run == native ]] && record=() ||
            record=("$umbra" record --quiet -o "$work/$who/data" --)
        (cd "$who" && XDG_CACHE_HOME=$work/$who/cache exec timeout -k 5 120 "$@" "${record[@]}" \
            "$work/hostile_calls" "$seed" "$count" "$work/program" scene) >"$run.calls" 2>said ||
            fail "$who: seed $seed: $run: status $?: $(<said)"
    done
    diff native.calls recorded.calls >differ ||
        { head -n 20 differ >&2; fail "$who: seed $seed: a call returned something else"; }
    contains "$who/data/files" "^instrumented	$work/$who/scene/"
    rm -rf "$who"
}

gcc -O1 -g -Wall -Wextra -Werror -o hostile_calls "$TESTS/programs/hostile_calls.c"
chmod 711 "$work"
outside >outside.before
seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
count=${CALLS:-10000}
# Call 7002: a buffer for stat that is there in part, and has the path in that part.
hostile_calls "$(id -un)" 3357397225 7003
hostile_calls "$(id -un)" 91793625 4029 # truncates what is executed by a descriptor that was there before
for ((; count > 0; count -= 20000, seed++)); do
    calls=$((count < 20000 ? count : 20000))
    hostile_calls "$(id -un)" "$seed" "$calls"
    ((EUID == 0)) || continue
    user=(setpriv --reuid=4711 --regid=4711 --clear-groups)
    if "${user[@]}" test -r "$umbra" -a -x "$umbra" && "${user[@]}" unshare -Urm true 2>/dev/null; then
        hostile_calls 4711 "$seed" $((calls / 2)) "${user[@]}"
    else
        echo 'skipped: an ordinary user'
    fi
done
outside | diff outside.before - >&2 || fail "a call led out of its folder"
