#!/bin/bash
# call_trace_service attach: a program that sees other files than the service: in a chroot, in a mount namespace of its
# own, in a box with its own files, pids and network, whose files are read-only. It is recorded as any other; nothing
# of ours is in its files and among its descriptors, neither meanwhile nor afterwards.
# needs: gcc g++ util-linux
# seconds: 30
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

unshare -Urm true 2>/dev/null || unshare -m true 2>/dev/null || { echo 'skipped: no namespaces here'; exit 0; }

# Where any user finds them, and nothing of the programs in boxes does.
chmod 755 .
mkdir -p tools/{service,hooks,rewriter} box/{tmp,proc}
cp "$BUILD/service/call_trace_service" tools/service
cp "$BUILD/hooks/libattach.so" tools/hooks
cp "$BUILD/rewriter/instrument" tools/rewriter
service=$work/tools/service/call_trace_service

# By the same path there is another library in the box, with the same functions and others in front of them.
cat >library.c <<'END_OF_C'
#ifdef FILL
__attribute__((noipa)) int fills(int n) { volatile int sum = n; for (int i = 0; i < n; i++) sum += i; return sum; }
#endif
__attribute__((noipa)) int NAME(int n) { return n < 2 ? n : NAME(n - 1) + NAME(n - 2); }
int call(int n) { return NAME(n); }
END_OF_C
gcc -O1 -g -shared -fPIC -DNAME=outside library.c -o libcalls.so
mkdir -p "box$work"
gcc -O1 -g -shared -fPIC -DFILL -DNAME=inside library.c -o "box$work/libcalls.so"

# On SIGUSR1 it makes calls, throws, and has a child do the same; says how many descriptors it has. With a folder, it goes
# there first, for good.
cat >turns.cpp <<'END_OF_C'
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

extern "C" int call(int n);
static volatile sig_atomic_t turns, stop;

__attribute__((noipa)) void throws(int depth)
{
    if (!depth)
        throw std::runtime_error("thrown");
    throws(depth - 1);
    asm volatile("");
}

static bool is_right()
{
    try {
        throws(3);
    } catch (const std::runtime_error &) {
        return call(10) == 55;
    }
    return false;
}

// For samples.
__attribute__((noipa)) void computes()
{
    for (clock_t begun = clock(); clock() - begun < CLOCKS_PER_SEC / 20;)
        ;
}

int main(int argc, char **argv)
{
    int done = 0;

    if (argc > 1 && (chroot(argv[1]) || chdir("/")))
        return 1;
    std::signal(SIGUSR1, [](int) { turns = turns + 1; });
    std::signal(SIGTERM, [](int) { stop = 1; });
    std::puts("begun");
    for (std::fflush(stdout); !stop; usleep(1000)) {
        int status = 0, files = 0;

        if (turns == done)
            continue;
        done++;
        if (!is_right())
            return 1;
        computes();
        if (fork() == 0)
            _exit(call(10) == 55 ? 0 : 1);
        while (wait(&status) < 0)
            ;
        for (int i = 0; i < 1000; i++)
            files += fcntl(i, F_GETFD) >= 0;
        std::printf("turn %d, child %d, %d descriptors\n", done, status, files);
        std::fflush(stdout);
    }
    return 0;
}
END_OF_C
g++ -O1 -g turns.cpp -L. -lcalls -Wl,-rpath,"$work" -o box/turns
gcc -O1 "$TESTS/programs/boxed.c" -o boxed
cp box/turns turns
ldd box/turns | grep -o '/[^ ]*' | grep -v libcalls | sort -u | while read -r library; do
    mkdir -p "box$(dirname "$library")"
    cp "$library" "box$library"
done

# runs CHILDREN COMMAND…: in the background, with its number in $pid: that of the command's child's child …
runs()
{
    local children=$1
    shift
    : >said
    "$@" >said 2>problems &
    job=$!
    started+=($!)
    for ((try = 0; try < 500; try++)); do
        grep -q begun said && break
        if ! kill -0 "$job" 2>/dev/null; then
            contains problems 'Operation not permitted'
            echo "skipped: $(<problems)"
            return 1
        fi
        sleep 0.01
    done
    pid=$job
    for (( ; children; children--)); do pid=$(<"/proc/$pid/task/$pid/children"); done
    pid=${pid% }
    started+=("$pid")
}

# Nothing of ours is mapped, among its descriptors or in its files.
is_as_before()
{
    nothing_left
    tail -n 1 said >last
    contains last ", child 0, $descriptors descriptors"
    find box -printf '%p %i %s %T@\n' | sort >files.now
    cmp files.before files.now || fail "the program's files have changed"
}

# attaches LIBRARY's-function [AS…]: to the program that `runs`, `rounds` times, and lets go of it
rounds=2
attaches()
{
    local function=$1 round as=("${@:2}")
    descriptors=
    find box -printf '%p %i %s %T@\n' | sort >files.before
    turn
    descriptors=$(grep -o '[0-9]* descriptors' said | cut -d ' ' -f 1)
    for ((round = 1; round <= rounds; round++)); do
        rm -rf traces
        mkdir -m 777 traces
        attached
        ! grep 'left alone' attach.log || fail "images were left alone"
        turn
        turn
        turn
        detached
        turn
        is_as_before
        "$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions traces/*.bin 2>problems ||
            fail "the grinder says: $(<problems)"
        [[ ! -s problems ]] || fail "the grinder says: $(<problems)"
        # 177 calls of fib(10), of program and child
        equal "calls of $function" "$(calls "$function")" $((3 * 2 * 177))
        equal "calls of throws" "$(calls throws)" $((3 * 4))
        equal "traces" "$(ls traces/*.bin | wc -l)" 4
        "$BUILD/grinder/grinder" --mode=summary traces/*.bin >summary
        equal "children of $pid" "$(grep -cE "fork of +$pid\$" summary)" 3
        ! ls traces/*.samples >/dev/null 2>&1 || contains summary '  samples +[1-9]'
        contains functions "$work/libcalls.so"
        ! grep -E '/proc/|images-' functions summary || fail "files are not called as the program calls them"
    done
    ends
}

ends()
{
    local status=0
    kill -TERM "$pid"
    wait "$job" || status=$?
    equal "status of the program" "$status" 0
}

calls()
{
    awk -F '\t' -v name="$1" '$4 == name || index($4, name "(") == 1 { sum += $8 } END { print sum + 0 }' functions
}

user=()
((EUID == 0)) || user=(--user --map-root-user)

echo '-- a mount namespace of its own, with our files'
! runs 0 unshare "${user[@]}" --mount ./turns || attaches outside

rounds=1
echo '-- a chroot'
if ((EUID == 0)); then
    ! runs 0 chroot box /turns || attaches inside
    echo '-- a chroot that it has gone to since, without its own files'
    mkdir nothing
    ! runs 0 ./turns nothing || attaches outside
    ! runs 0 unshare --mount ./turns nothing || attaches outside
fi

for proc in none proc; do
    for mode in ro rw; do
        echo "-- a box: /proc: $proc; $mode"
        ! runs 1 unshare "${user[@]}" --mount --pid --net --ipc --uts --fork ./boxed $proc $mode box /turns ||
            attaches inside
    done
done

if ((EUID == 0)); then
    other=$((20000 + $$ % 20000))
    as=(setpriv "--reuid=$other" "--regid=$other" --clear-groups env -u XDG_RUNTIME_DIR)
    echo '-- of an ordinary user, who is root in there'
    ! runs 1 "${as[@]}" unshare --user --map-root-user --mount --pid --net --fork ./boxed none ro box /turns ||
        attaches inside "${as[@]}"
    echo '-- who is nobody in there is refused'
    if runs 0 "${as[@]}" unshare --user --mount --net ./turns; then
        mkdir -p -m 777 none
        ! "${as[@]}" "$service" attach "$pid" --trace-dir=none >refused.log 2>&1 || fail "not refused"
        contains refused.log "knows no user of this program's"
        turn
        ends
    fi
    rm -rf "/tmp/umbra-$other"
fi
