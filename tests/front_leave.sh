#!/bin/bash
# umbra record --leave=PATTERN: files that match are run as they are, the others are instrumented.
# needs: gcc
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
for name in one two; do
    echo "__attribute__((noinline)) int $name(int n) { volatile int x = n; return x * 3; }" >$name.c
    gcc -O1 -shared -fPIC -o "lib$name.so" $name.c
done
cat >user.c <<'END'
int one(int n), two(int n);
int main(void) { return one(1) + two(2); }
END
gcc -O1 -o user user.c -L. -lone -ltwo -Wl,-rpath,"$work"
ln -s libone.so link.so

# left OPTION…: what is instrumented and what is left of the three files
left()
{
    rm -rf leave.data*
    local status=0
    umbra record --quiet -o leave.data "$@" -- ./user 2>said || status=$?
    equal "status with $*: $(<said)" "$status" 9
    instrumented=$(sed -n "s:^instrumented	$work/\([a-z.]*\)	.*:\1:p" leave.data/files | sort | paste -sd' ')
    umbra ls --left leave.data >said
    left=$(sed -n "s:^umbra\: $work/\([a-z.]*\)\: left as it is\: --leave says so$:\1:p" said | sort | paste -sd' ')
}

# leaves LEFT INSTRUMENTED OPTION…
leaves()
{
    local expected=$1 others=$2
    shift 2
    left "$@"
    equal "left with $*" "$left" "$expected"
    equal "instrumented with $*" "$instrumented" "$others"
}

for way in yes no; do
    leaves '' 'libone.so libtwo.so user' --in-place=$way
    leaves libone.so 'libtwo.so user' --in-place=$way --leave=libone.so
    leaves libone.so 'libtwo.so user' --in-place=$way --leave="$work/libone.so"
    leaves 'libone.so libtwo.so' user --in-place=$way --leave='*/lib???.so'
    leaves libtwo.so 'libone.so user' --in-place=$way --leave=one --leave=libtwo.so --leave=link.so
    leaves 'libtwo.so user' libone.so --in-place=$way --leave='*' --leave='!libone.so'
    leaves 'libone.so user' libtwo.so --in-place=$way --leave='*' --leave='!lib*' --leave=libone.so
    leaves 'libone.so libtwo.so user' '' --in-place=$way --leave='*'
done
equal 'all that is instrumented with *' "$(grep -c ^instrumented leave.data/files || true)" 0
