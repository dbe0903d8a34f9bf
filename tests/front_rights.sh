#!/bin/bash
# Who supervises a recording opens files for the recorded processes: none of them gets to see more than the
# kernel would show it. And what a debugger runs is what the debugger reads.
# needs: gcc gdb util-linux perl busybox-static
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello
chmod 755 "$work"

gdb=(gdb -nx -batch -ex 'break puts' -ex run -ex 'bt 1' -ex 'print $pc - (long)main' -ex continue ./hello)
"${gdb[@]}" >native.out 2>/dev/null
contains native.out '^Breakpoint 1, '
"$umbra" record -o gdb.data -- "${gdb[@]}" >recorded.out 2>said
normalised() { sed -E 's/process [0-9]+/process N/' "$1"; }
diff <(normalised native.out) <(normalised recorded.out) || fail "gdb"
"$umbra" ls --left gdb.data >left
contains left "$work/hello: left as it is: a debugger ran it, and reads the original\$"

# A name makes no line of its own in the list of files, which says what the grinder reads.
cat >traced.c <<'END_OF_SOURCE'
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(arguments[count - 1], arguments + 1);
        _exit(127);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, 0, 0);
    return 0;
}
END_OF_SOURCE
gcc traced.c -o traced
name=$'a\ninstrumented\t/usr/bin/other\t..'
mkdir -p "$name"
cp hello "$name/hello"
"$umbra" record -o named.data -- ./traced "$name/hello" >recorded.out 2>said
contains recorded.out '^hello$'
contains named.data/files '^left	.*/hello	a debugger ran it'
! grep '^instrumented	/usr/bin/other' named.data/files || fail "a name became a line"

((EUID == 0)) || { echo "skipped: other users, for want of rights"; exit 0; }
# Root runs it, so it is bound over; somebody else may neither read nor execute it.
chmod 700 hello
cat >becomes.sh <<'END'
./hello
setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c 'cat ./hello; ./hello; stat -c %s ./hello; cat /bin/true | cksum' 2>&1
END
chmod 755 becomes.sh
sh becomes.sh >native.out
contains native.out 'cat: ./hello: Permission denied'
"$umbra" record -o becomes.data -- sh becomes.sh >recorded.out 2>said
grep -v '^[0-9]*$' native.out >native.words
grep -v '^[0-9]*$' recorded.out >recorded.words
diff native.words recorded.words || fail "another user sees more, or less"

# Nor does root that has given its rights up.
mkdir -m 755 locked
cp hello locked/hello
cat >gives_up.sh <<'END'
locked/hello
setpriv --bounding-set=-all --inh-caps=-all cat locked/hello 2>&1
true
END
chown nobody locked
chmod 700 locked
sh gives_up.sh >native.out
contains native.out 'cat: locked/hello: Permission denied'
"$umbra" record -o gives_up.data -- sh gives_up.sh >recorded.out 2>said
contains gives_up.data/files '^instrumented	.*/locked/hello	'
diff native.out recorded.out || fail "root without rights sees more, or less"

# In another root the same path is another file.
mkdir -p root/bin
cp /usr/bin/busybox root/bin/busybox
ln -s busybox root/bin/cat
printf 'the file of the other root\n' >root/bin/perl
mkdir root/usr
ln -s ../bin root/usr/bin
# perl and cat have been bound over when the other root reads files of these names.
cat >chroots.sh <<'END_OF_SCRIPT'
perl -e 'print "perl\n"'
chroot root /bin/busybox cat /usr/bin/perl | cksum
chroot root /bin/busybox stat -c %s /usr/bin/perl
END_OF_SCRIPT
sh chroots.sh >native.out
"$umbra" record -o chroots.data -- sh chroots.sh >recorded.out 2>said
contains chroots.data/files '^instrumented	/usr/bin/perl	'
diff native.out recorded.out || fail "another root sees other files"

# What is instrumented is what was looked at, though its owner puts another file in its place: here
# a link to what he must not read, when `instrument` begins.
mkdir -m 755 theirs tools tools/{front,rewriter,service,grinder,hooks}
chown nobody theirs
printf '#include <stdio.h>\nint main(void) { puts("hidden words"); return 0; }\n' >secret.c
gcc secret.c -o secret
chmod 700 secret
install -o nobody -m 755 hello theirs/program
cp "$umbra" tools/front/umbra
ln -s "$BUILD/service/call_trace_service" tools/service/
ln -s "$BUILD/grinder/grinder" tools/grinder/
cp "$AGENT" tools/hooks/libhooks.so
cat >tools/rewriter/instrument <<END_OF_SCRIPT
#!/bin/sh
if [ -O "$work/secret" ] && [ ! -L "$work/theirs/program" ]; then
    case "\$(readlink -f "\$(eval echo "\\\$\$#")")" in
    */theirs/program) ln -sf ../secret "$work/theirs/program" ;;
    esac
fi
exec "$BUILD/rewriter/instrument" "\$@"
END_OF_SCRIPT
chmod 755 tools/rewriter/instrument
tools/front/umbra record -o swapped.data -- "$work/theirs/program" >recorded.out 2>said || true
[[ -L theirs/program ]] || fail "nothing was put in the program's place"
if grep -rl 'hidden words' cache swapped.data/images; then
    fail "what was put in its place was instrumented"
fi

# Nor does root take files from a cache that another user could put in another's place.
mkdir -p theirs/cache
XDG_CACHE_HOME=$work/theirs/cache "$umbra" record -o apart.data -- ./hello >recorded.out 2>said
contains said "^umbra: $work/theirs/cache/umbra: the cache cannot be used: is in a directory in which another user can rename things, $work/theirs; "
contains apart.data/files '^instrumented	.*/hello	'
