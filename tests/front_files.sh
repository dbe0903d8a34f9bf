#!/bin/bash
# Calls on a file that was bound over end as they do natively, and what has no path is left as it is.
# needs: gcc util-linux coreutils attr perl
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello

# What runs is not written to; what is there is not made anew; who may write is told so.
cat >calls.c <<'END_OF_SOURCE'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *what, int result)
{
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    if (result > 2)
        close(result);
}

static void show_access(const char *program)
{
    show("access", access(program, W_OK));
    show("access of three", access(program, R_OK | W_OK | X_OK));
    show("effective access", faccessat(AT_FDCWD, program, W_OK, AT_EACCESS));
    show("access from a folder", faccessat(AT_FDCWD, program, W_OK, 0));
}

int main(int count, char **arguments)
{
    const char *program = arguments[count - 1];
    int ends[2];
    pid_t child;

    show_access(program);
    show("exclusive", open(program, O_RDONLY | O_CREAT | O_EXCL, 0700));
    show("exclusive, to write", open(program, O_WRONLY | O_CREAT | O_EXCL, 0700));
    chmod(program, 0555);
    show_access(program);
    chmod(program, 0755);
    if (pipe(ends) < 0 || (child = fork()) < 0)
        return 1;
    if (child == 0) {
        dup2(ends[0], 0);
        close(ends[1]);
        execl(program, program, "waits", NULL);
        return 127;
    }
    close(ends[0]);
    char path[64], link[PATH_MAX] = "", own[PATH_MAX] = "";
    snprintf(path, sizeof(path), "/proc/%d/exe", child);
    readlink("/proc/self/exe", own, sizeof(own) - 1);
    for (int i = 0; i < 5000 && readlink(path, link, sizeof(link) - 1) > 0 && !strcmp(link, own); i++)
        usleep(1000);
    show("to write", open(program, O_WRONLY));
    show("to write both", open(program, O_RDWR));
    show("to cut", open(program, O_WRONLY | O_TRUNC));
    show("creat", creat(program, 0755));
    show("truncate", truncate(program, 0));
    chmod(program, 0555);
    setreuid(-1, 4711);
    show("to write what may not be written", open(program, O_WRONLY));
    setreuid(-1, 0);
    chmod(program, 0755);
    close(ends[1]);
    waitpid(child, NULL, 0);
    show("to write afterwards", open(program, O_WRONLY));
    return 0;
}
END_OF_SOURCE
cat >waits.c <<'END_OF_SOURCE'
#include <unistd.h>

int main(int count, char **arguments)
{
    char byte;
    return count > 1 && arguments[1][0] == 'w' && read(0, &byte, 1) != 0;
}
END_OF_SOURCE
gcc calls.c -o calls
gcc waits.c -o waits
cp waits waits.kept
cat >calls.sh <<'END'
./waits
./calls ./waits
END
sh calls.sh >calls.native 2>&1
contains calls.native '^to cut: Text file busy$'
"$umbra" record -o calls.data -- sh calls.sh >calls.recorded 2>said
contains calls.data/files "^instrumented	$work/waits	"
diff calls.native calls.recorded || fail "calls on a file that is bound over"

cp waits.kept waits

# A program that is renamed while it runs has a path to itself.
cat >moved.sh <<'END'
mkfifo gate
./waits waits <gate &
exec 3>gate
tries=500
while [ "$(readlink /proc/$!/exe)" != "$PWD/waits" ] && [ $((tries -= 1)) -gt 0 ]; do sleep 0.01; done
mv waits renamed
cmp "$(readlink /proc/$!/exe)" /proc/$!/exe && echo there
exec 3>&-
wait
mv renamed waits
rm gate
END
"$umbra" record -o moved.data -- sh moved.sh >moved.recorded 2>said
contains moved.recorded '^there$'
contains moved.data/files "^instrumented	$work/waits	"

# By a descriptor the original is executed, as it was opened; it is bound over once.
cat >descriptors.c <<'END_OF_SOURCE'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int mounts(void)
{
    FILE *file = fopen("/proc/self/mounts", "r");
    int count = 0, next;

    while (file && (next = getc(file)) != EOF)
        count += next == '\n';
    return count;
}

int main(int count, char **arguments)
{
    int before = 0, failed = 0, status;

    for (int i = 0; i < 200; i++) {
        const int file = open(arguments[count - 1], O_RDONLY | O_CLOEXEC);
        if (i == 1)
            before = mounts();
        if (fork() == 0) {
            fexecve(file, arguments + count - 1, environ);
            _exit(127);
        }
        wait(&status);
        failed += status != 0;
        close(file);
    }
    fprintf(stderr, "%d failed, %d more mounts\n", failed, mounts() - before);
    return 0;
}
END_OF_SOURCE
gcc descriptors.c -o descriptors
"$umbra" record -o descriptors.data -- ./descriptors ./waits >recorded.out 2>said
contains said '^0 failed, 0 more mounts$'
equal 'files instrumented' "$(grep -c "	$work/waits	" descriptors.data/files)" 1

# The name of a memfd is no path, whatever it says; nor is that of a removed file.
cat >nameless.c <<'END_OF_SOURCE'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **arguments)
{
    const int from = open(arguments[1], O_RDONLY);
    const int file = count > 3 ? open(arguments[2], O_RDWR | O_CREAT | O_TRUNC, 0700)
                               : memfd_create(arguments[2], 0);

    while (sendfile(file, from, NULL, 1 << 20) > 0)
        ;
    if (count > 3) {
        close(file);
        const int again = open(arguments[2], O_RDONLY);
        unlink(arguments[2]);
        fexecve(again, arguments + 1, environ);
    }
    fexecve(file, arguments + 1, environ);
    return 127;
}
END_OF_SOURCE
gcc nameless.c -o nameless
mkdir -p "$work/escaped"
up=$(printf '../%.0s' {1..30})
"$umbra" record -o nameless.data -- ./nameless ./hello "$up${work#/}/escaped/file" >recorded.out 2>said
equal 'a memfd' "$(<recorded.out)" hello
contains nameless.data/files '^left	/memfd:.*	it has no path on a file system$'
equal 'written outside' "$(ls escaped)" ''
"$umbra" record -o removed.data -- ./nameless ./hello ./removed unlink >recorded.out 2>said
equal 'a removed file' "$(<recorded.out)" hello
contains removed.data/files '^left	.*/removed .*	it has no path on a file system$'

# What changes a file by a link does so natively, and does not to the link.
cat >by_link.sh <<'END'
cp hello linked
ln -s linked link
changes() { "$@" && echo done; ./linked; }
./linked
changes chmod 711 link
stat -c '%a %n' linked
changes touch -d '2001-02-03 04:05:06Z' link
stat -c '%Y %n' linked
changes touch -h -d '2001-02-03 04:05:07Z' link
stat -c '%Y %n' linked link
changes setfattr -n user.umbra -v here link
changes setfattr -x user.umbra link
changes setfattr -n user.umbra -v there linked
changes setfattr -x user.umbra linked
changes chown 4711:4712 link
stat -c '%u %g %n' linked
changes chown -h 4713:4714 link
stat -c '%u %g %n' linked link
changes cp -f hello link
changes perl -e 'truncate("link", 0)'
rm -f linked link
END
((EUID == 0)) || sed -i '/^changes chown/d' by_link.sh
sh by_link.sh >by_link.native 2>&1 || true
"$umbra" record -o by_link.data -- sh by_link.sh >by_link.recorded 2>&1 || true
sed -i '/^umbra: /d' by_link.recorded
diff by_link.native by_link.recorded || fail 'changes by a link'
contains by_link.data/files "^instrumented	$work/linked	"

# Flags that the kernel does not know: newfstatat, statx, faccessat2.
cat >flags.sh <<'END'
./hello
perl -e '$b = "\0" x 512; $p = "hello"; for $f (0, 0x100, 0x800, 0x6000, 0x8000, 1, 0x200) {
    print "$f: ", join(" ", map { $_ + 0 } syscall(262, -100, $p, $b, $f), $!, syscall(332, -100, $p, $f, 0x7ff, $b), $!,
        syscall(439, -100, $p, 2, $f), $!), "\n"; $! = 0 }'
END
sh flags.sh >flags.native
"$umbra" record -o flags.data -- sh flags.sh >flags.recorded 2>/dev/null
diff flags.native flags.recorded || fail 'flags'
