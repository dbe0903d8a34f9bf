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

# The kernel lets the supervisor have its own descriptors by their links in /proc, whatever rights its
# threads have taken on: nobody else is to have them by naming those links. Two threads have the supervisor
# look at a program in a folder that is shut, and the third one names the descriptors that it has.
cat >descriptors.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void *look(void *path)
{
    struct stat status;

    for (;;)
        stat(path, &status);
}

int main(int count, char **arguments)
{
    pthread_t thread;
    char path[64];

    for (int i = 0; i < 2 && count > 1; i++)
        pthread_create(&thread, NULL, look, arguments[1]);
    for (int i = 0; i < 500 * 40; i++) {
        int file;
        snprintf(path, sizeof(path), "/proc/./self/fd/%d", i % 40);
        file = open(path, O_RDONLY | O_NONBLOCK);
        if (file >= 0 && lseek(file, 0, SEEK_END) > 5000) {
            puts("has it");
            return 1;
        }
        close(file);
    }
    puts("has nothing");
    return 0;
}
END
gcc descriptors.c -o descriptors -lpthread
same_recorded descriptors <<END
shut/hello
setpriv --reuid=4711 --regid=4712 --clear-groups ./descriptors shut/hello
END
contains descriptors.native '^has nothing$'

# Its own links lead where they did, and no path is none.
cat >links.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void show(const char *path)
{
    struct stat status = {0};
    const int file = open(path, O_RDONLY);

    printf("%s %d %lld\n", path, file < 0 ? errno : 0, file < 0 ? 0LL : (long long)lseek(file, 0, SEEK_END));
    close(file);
    const int is_there = stat(path, &status);
    printf("%d %lld\n", is_there, (long long)status.st_size);
}

int main(void)
{
    const int file = open("hello", O_PATH);
    struct stat status = {0};
    char path[64];

    show("/proc/self/exe");
    show("/proc/thread-self/exe");
    show("/proc/self/cwd/hello");
    show("/proc/self/root/usr/bin/id");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    show(path);
    show("");
    printf("%d %d\n", openat(file, "", O_RDONLY), errno);
    printf("%d %d\n", fstatat(file, "", &status, 0), errno);
    return 0;
}
END
gcc links.c -o links
same_recorded links <<'END'
./hello
id >/dev/null
./links
END

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
