#!/bin/bash
# What confines itself within a recording stays confined: nothing is opened for it that the kernel would
# refuse, and a tracer sees what it would see.
# needs: gcc util-linux strace proot
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello
chmod 755 "$work" hello
mkdir apart
cp hello apart/hello

# same_recorded NAME: the script NAME.sh does the same natively and recorded; NAME.data is the recording.
same_recorded()
{
    sh "$1.sh" >"$1.native" 2>&1 || echo "status $?" >>"$1.native"
    "$umbra" record -o "$1.data" -- sh "$1.sh" >"$1.recorded" 2>&1 || echo "status $?" >>"$1.recorded"
    sed -i -E '/^umbra( record)?: /d' "$1.recorded"
    diff "$1.native" "$1.recorded" || fail "$1"
}

# A seccomp filter that asks a tracer: strace says so and stops at each call instead. sh has been bound
# over by then, and its agent makes calls of its own.
cat >traced.sh <<'END'
strace --seccomp-bpf -f -e trace=openat,execve -o calls sh -c './hello; cat /dev/null' 2>said
sed -n 's/^[0-9]* *//; s/ = .*//; s/, 0x[^)]*//; /hello\|null/p' calls
END
same_recorded traced
contains traced.native '^openat.*/dev/null'
contains said '^strace: seccomp filter is requested but unavailable$'
cat >bound.sh <<'END'
proot -b "$PWD/apart:/nowhere" sh -c 'cat /nowhere/hello | cksum; echo words >/nowhere/words; mv /nowhere/words /nowhere/more'
cat apart/more
END
same_recorded bound
contains bound.native '^words$'

# Landlock: a program that was run before, and so is bound over, cannot be read. Others read originals
# on, but where somebody used Landlock by a capability, which leaves no sign in its children.
cat >landlocked.c <<'END_OF_SOURCE'
/* landlocked KEEPS AGENT PROGRAM…: from now on reads nothing but what the system has, and the folder
   of the agent; KEEPS is `rights` or `none`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    const char *const readable[] = {"/usr", "/lib", "/lib64", "/etc", "/dev", arguments[2]};
    struct landlock_ruleset_attr wish = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE};
    const int rules = syscall(SYS_landlock_create_ruleset, &wish, sizeof(wish), 0);

    if (rules < 0)
        return 77;
    for (size_t i = 0; i < sizeof(readable) / sizeof(*readable); i++) {
        struct landlock_path_beneath_attr beneath = {LANDLOCK_ACCESS_FS_READ_FILE,
                                                     open(readable[i], O_PATH)};
        syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    }
    if (strcmp(arguments[1], "rights") != 0)
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (count < 4 || syscall(SYS_landlock_restrict_self, rules, 0) < 0)
        return 1;
    execvp(arguments[3], arguments + 3);
    return 127;
}
END_OF_SOURCE
gcc landlocked.c -o landlocked
keeps=(none)
((EUID != 0)) || keeps+=(rights)
for keep in "${keeps[@]}"; do
    cat >landlock.sh <<END
./hello
./landlocked $keep ${AGENT%/*} sh -c 'cat hello; cksum <hello; cat hello.c' | cksum
END
    [[ $keep == rights ]] || echo 'cksum <hello' >>landlock.sh
    if ./landlocked "$keep" "${AGENT%/*}" true; then
        same_recorded landlock
        contains landlock.native '^[^ ]*: .*: Permission denied$'
        contains landlock.data/files "^instrumented	$work/hello	"
    else
        echo "skipped: Landlock, which this kernel has not"
    fi
done

((EUID == 0)) || { echo "skipped: other users and roots, for want of rights"; exit 0; }

# Root of a user namespace within is no root outside.
mkdir -m 700 theirs
cp hello theirs/hello
chown -R 4711 theirs
cat >users.sh <<END
theirs/hello
unshare --user --map-root-user sh -c 'id -u; cat theirs/hello'
unshare --user --map-root-user sh -c 'theirs/hello'
END
if unshare --user --map-root-user true; then
    same_recorded users
    contains users.native 'cat: theirs/hello: Permission denied'
    contains users.data/files "^instrumented	$work/theirs/hello	"
    # The user is told why such processes have no more files instrumented, once.
    "$umbra" ls --left users.data >users.left
    equal 'lines of who confined himself' "$(grep -c 'unshare: has confined itself' users.left)" 1
fi

# A bind of the root is another root: what is mounted on the one is not seen in the other.
if [[ $(stat -c %d /) == "$(stat -c %d .)" ]]; then # else a bind of it has nothing of this folder
    mkdir covered other
    echo 'what is below' >covered/hello
    cat >roots.sh <<END
mount -t tmpfs tmpfs covered
cp hello covered/hello
chmod 755 covered/hello
covered/hello
mount --bind / other
chroot other /bin/cat "$work/covered/hello"
chroot other /bin/stat -c %s "$work/covered/hello"
END
    unshare -m sh roots.sh >roots.native 2>&1
    "$umbra" record -o roots.data -- sh roots.sh >roots.recorded 2>&1
    sed -i '/^umbra: /d' roots.recorded
    diff roots.native roots.recorded || fail "a bind of the root"
    contains roots.native '^what is below$'
    contains roots.data/files "^instrumented	$work/covered/hello	"
fi
