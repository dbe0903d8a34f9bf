#!/bin/bash
# `umbra record` of programs as they are installed, as root and as an ordinary user: they print what
# they print natively and end as they do, their children are recorded too, and a build leaves the
# same bytes though its tools and what it ran were instrumented.
# needs: perl gawk make util-linux
# seconds: 20
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra
as=()

# native_and_recorded WHAT COMMAND…: the same twice; the recording is instrumented/umbra.data
native_and_recorded()
{
    local what=$1
    shift
    run native "${as[@]}" "$@"
    LIMIT=60 run instrumented "${as[@]}" "$umbra" record --quiet "${options[@]}" -- "$@"
    compare_runs "$what"
    ls instrumented/umbra.data/traces >left
}

# summary_of RECORDING
summary_of()
{
    umbra report --text "instrumented/$1" >summary 2>problems ||
        fail "the report of $1: $(<problems)"
}

programs()
{
    options=()
    native_and_recorded 'a program' perl -e 'use POSIX; print "$0 $^X ", readlink("/proc/self/exe"),
        "\n", join(",", map { sprintf "%.3f", sin $_ } 1 .. 9), "\n"; warn "done\n"; exit 3'
    summary_of umbra.data
    contains summary ' Perl_'
    contains summary ' [1-9][0-9]* +[0-9]+ +/.*/perl$'
    contains summary ' [1-9][0-9]* +[0-9]+ +/.*/libc\.so\.6$'
    contains summary ' [1-9][0-9]* +[0-9]+ +/.*/POSIX\.so$' # loaded when it had begun
    native_and_recorded 'a script' "$work/script" one two
    contains left '^perl-'
    native_and_recorded 'children' sh -c 'perl -e "print 2 + 3"; gawk "BEGIN { print 7 * 6 }"'
    contains left '^perl-'
    contains left '^gawk-'
    local user=("${as[@]}")
    as+=(sh -c 'exec "$@" 0<&- 1>&-' sh)
    native_and_recorded 'closed descriptors' perl -e \
        'warn join(" ", map { -e "/proc/self/fd/$_" ? "open" : "closed" } 0 .. 2), "\n"'
    as=("${user[@]}")
    native_and_recorded 'a signal' sh -c 'kill -TERM $$'
    equal 'status after a signal' "$(<instrumented.status)" 143
    native_and_recorded 'what is read is the original' sh -c \
        "p=\$(command -v perl); perl -e 0; cksum \$p; stat -Lc '%s %i %Y %a' \$p; cp \$p copy; cksum copy; rm copy"
    options=(--children=no)
    native_and_recorded 'the program alone' perl -e 'print `gawk "BEGIN { print 1 }"`'
    equal 'processes without children' "$(grep -c '\.bin$' left)" 1
    options=()
}

# What a build runs, it copies, strips, renames, builds anew and removes.
build_of()
{
    local tree
    for tree in native instrumented; do
        mkdir "$tree/tree"
        cat >"$tree/tree/gen.c" <<'END'
#include <stdio.h>
__attribute__((noinline)) int times_three(int x)
{
    return x * 3;
}
int main(void)
{
    return printf("%d\n", times_three(NUMBER)) < 0;
}
END
        cat >"$tree/tree/Makefile" <<'END'
all: out.txt lib.so
out.txt: gen
	./gen >out.txt
	cp gen copy
	strip -o stripped gen
	mv gen gen2
	./gen2 >>out.txt
	gcc -DNUMBER=5 -o gen gen.c
	./gen >>out.txt
	gcc -DNUMBER=6 -o gen gen.c
	./gen >>out.txt
	rm gen2
gen: gen.c
	gcc -DNUMBER=4 -o gen gen.c
lib.so: gen.c
	gcc -shared -fPIC -DNUMBER=7 -o lib.so gen.c -lm
END
        [[ ! ${as[*]} ]] || chown -R "$user:$user" "$tree/tree"
    done
    (cd native/tree && "${as[@]}" make -j2) >native.stdout
    (cd instrumented/tree && "${as[@]}" "$umbra" record --quiet -o ../build.data -- make -j2 \
        >../../instrumented.stdout)
    diff -r native/tree instrumented/tree || fail 'the build left other files'
    ls instrumented/build.data/traces >left
    for tool in make cc1 as gen gen2; do
        contains left "^(x86_64-linux-gnu-)?$tool-"
    done
    summary_of build.data
    rm -rf native/tree instrumented/tree
}

# rights USER: that a program gets by being executed. In a recording by root they are not lost.
rights()
{
    run native "${as[@]}" "$work/who"
    LIMIT=60 run instrumented "${as[@]}" "$umbra" record -o rights.data -- "$work/who"
    equal 'its user natively' "$(<native.stdout)" "$other"
    equal 'its user in a recording' "$(<instrumented.stdout)" "$1"
    umbra ls --left instrumented/rights.data >left
    contains left "^umbra: $work/who: left as it is: it .*set-uid"
    run instrumented "${as[@]}" "$umbra" record --in-place=no -o rights.data -- "$work/who"
    equal 'its user in a recording that is not in place' "$(<instrumented.stdout)" "$other"
}

cat >script <<'END'
#!/usr/bin/env -S perl -w
print "$0 @ARGV\n";
END
chmod 755 script

if ((EUID == 0)); then
    user=$((20000 + $$ % 20000 * 2)) other=$((user + 1))
    chmod 0711 "$work"
    cat >who.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    return printf("%d\n", (int)geteuid()) < 0;
}
END
    gcc -o who who.c
    chown $other who
    chmod 4755 who
    programs
    build_of
    rights $other
    rm -rf instrumented/* native/*
    as=(setpriv --reuid=$user --regid=$user --clear-groups)
    "${as[@]}" test -x "$umbra" || { echo "skipped: others cannot get at $BUILD"; exit 0; }
    "${as[@]}" unshare -Um true || { echo 'skipped: users may not have namespaces'; exit 0; }
    mkdir -m 0700 of_user
    chown -R $user:$user of_user native instrumented
    export XDG_CACHE_HOME=$work/of_user XDG_RUNTIME_DIR=$work/of_user
    rights $user
fi
programs
build_of
