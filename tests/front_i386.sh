#!/bin/bash
# Calls of programs of 32 bits are seen by umbra record as those of 64 are: what they execute is instrumented, and what
# was bound over is the original to them. Executed programs go from 64 to 32 bits and back.
# needs: gcc gcc-multilib
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
gcc -m32 -O2 "$TESTS/programs/looks_i386.c" -o looks
cat >wide.c <<'END'
#include <unistd.h>
int main(int count, char **arguments) { return count > 1 ? execv(arguments[1], arguments + 1) : 0; }
END
for name in first inner last; do
    gcc -O1 wide.c -o "$name"
done
if ! ./looks first; then
    echo 'skipped: programs of 32 bits, which this kernel does not execute'
    exit 0
fi
mv elsewhere first

# A program of 64 bits, of 32, and of 64 again.
umbra record --quiet --output=data -- ./first ./looks ./inner ./last
echo '-- what they execute is instrumented'
for name in first inner last; do
    contains data/files "^instrumented.$work/$name"
done

echo '-- and what they look at is the original'
sed 's/^/    /' before
diff before <(head -n -1 after) || fail 'it is another file'
sum=$(sed -n 's/^openat: //p' before)
equal 'renamed, it has' "$(tail -n 1 after)" "openat: $sum"

echo '-- a seccomp filter that asks a tracer is refused'
cat >asks.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
    struct sock_filter step = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {1, &step};
    unsigned action = SECCOMP_RET_TRACE;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%s\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? strerror(errno) : "done");
    printf("%s\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? strerror(errno) : "done");
    printf("%s\n", syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0 ? strerror(errno) : "done");
}
END
gcc -m32 asks.c -o asks
umbra record --quiet --output=asked.data -- ./first ./asks >said
printf 'Invalid argument\nInvalid argument\nOperation not supported\n' | diff - said

# Until then, programs of 32 bits are left; where there is an agent for them, instrument is asked.
echo '-- with an agent for 32 bits, they are to be instrumented'
mkdir -p tools/{front,rewriter,service,grinder,hooks}
cp "$BUILD/front/umbra" tools/front/
ln -s "$BUILD/rewriter/instrument" tools/rewriter/
cp "$BUILD/service/call_trace_service" tools/service/
ln -s "$BUILD/grinder/grinder" tools/grinder/
cp "$AGENT" tools/hooks/libhooks.so
cp first elsewhere
tools/front/umbra record --quiet --output=left.data -- ./first ./looks ./elsewhere
contains left.data/files "^left.$work/looks.it is of 32 bits \(i386\), and only programs of 64 bits"
cp "$AGENT" tools/hooks/libhooks32.so
rm tools/rewriter/instrument
cat >tools/rewriter/instrument <<END
#!$BASH
printf '%s ' "\$@" >>"$work/asked"
echo >>"$work/asked"
exec "$BUILD/rewriter/instrument" "\$@"
END
chmod 755 tools/rewriter/instrument
mv elsewhere inner
tools/front/umbra record --quiet --output=taken.data -- ./first ./looks ./inner
contains asked " --agent=$work/tools/hooks/libhooks.so --confined "
contains asked " --agent=$work/tools/hooks/libhooks32.so --confined "
! grep "	$work/looks	it is of 32 bits" taken.data/files || fail 'instrument was not asked'
