#!/bin/bash
# Calls that copies count: programs that do what is hard on their contexts, recorded with copies that count
# their own calls and with prologues, and compared context by context (tests/campaigns/tree_compare.c).
# They do the same as natively, too.
# needs: g++
# seconds: 50
. "$(dirname "$0")/lib.sh"

rm -r instrumented # a link to one of these
mkdir prologue copy
options=()

# hooked NAME…: prologue/NAME and copy/NAME from native/NAME.
hooked()
{
    local name how
    for name; do
        for how in prologue copy; do
            instrument "native/$name" -o "$how/$name" --overwrite --how=$how >/dev/null
        done
    done
}

# one HOW TIMING COMMAND…: leaves a folder HOW.TIMING of traces. A profile is made of one of them: nobody reads it.
one()
{
    local how=$1 timing=$2
    shift 2
    rm -rf "$how.$timing"
    ln -sfn "$how" instrumented
    run instrumented "$BUILD/service/call_trace_service" start --timing="$timing" --samples=0 \
        --slices=0 "${options[@]}" --trace-dir="$work/$how.$timing" -- "$@"
    compare_runs "$*, $how, $timing"
    rm -rf traces
    ln -sfn "$how.$timing" traces
    case $how.$timing.$balanced in
        copy.adaptive.balanced) balanced ;;
        *.balanced) traces_are_whole ;;
        *) "$balanced" ;;
    esac
}

# Handlers that leave the agent's own hooks by longjmp, a hundred times a run, can leave a call that is counted
# at its end and not at its entry: docs/agent.md. No more than three of some million.
balanced=balanced
nearly_balanced()
{
    grinder --mode=summary traces/*.bin >summary 2>problems || true
    awk '/ (holds|BROKEN|derived)/ && NF > 8 { threads++; off = $2 - $3 - $4 - $5; if (off < -3 || off > 3) bad = 1 }
        END { exit bad || !threads }' summary || { cat problems summary >&2; fail "the traces are not whole"; }
}

natively()
{
    run native "$@"
    [[ $(<native.status) != 99 ]] || { cat native.stderr >&2; fail "$1 itself is broken"; }
}

# runs COMMAND…: does the same as natively, with each timing, and without a service. Trees are not
# compared.
runs()
{
    natively "$@"
    ln -sfn copy instrumented
    run instrumented "$@"
    compare_runs "$*, without a service"
    one copy none "$@"
    one copy adaptive "$@"
    one copy exact "$@"
}

# same_tree COMMAND…: and has the same contexts with as many calls.
same_tree()
{
    runs "$@"
    one prologue none "$@"
    counted_in_copies copy.none/*.bin || fail "$*, none: no call was counted in a copy"
    counted_in_copies copy.adaptive/*.bin || fail "$*, adaptive: no call was counted in a copy"
    compare_trees "$*" none
    compare_trees "$*" adaptive
    compare_trees "$*" exact
}

compare_trees()
{
    local options=(--ignore-ends)
    [[ $2 != none ]] || options+=(--by-callee$sites)
    "$BUILD/tests/campaigns/tree_compare" "${options[@]}" prologue.none "copy.$2" >differences ||
        { cat differences >&2; fail "$1, $2: contexts differ"; }
    echo "$1, $2: $(tail -n 1 differences)"
}

# Where a library comes and goes, calls that a site counts of what was there before are taken back without the site.
sites=

# made NAME OPTION…: native/NAME and both hooked ones from a source on standard input.
made()
{
    local name=$1
    shift
    cat >"$name.$language"
    build "$name" "$work/$name.$language" -w "$@"
    hooked "$name"
}

language=c

# Calls of every kind.
{
    for ((i = 0; i < 600; i++)); do
        echo "__attribute__((noipa)) static long w$i(long x) { return x * $i + probe(x & 7); }"
    done
    echo "__attribute__((noipa)) long wide(long x) { long s = 0;"
    for ((i = 0; i < 600; i++)); do
        echo "s += w$i(x + s);"
    done
    echo "return s; }"
    echo "__attribute__((noipa)) long wide_pointers(long (**f)(long), long x) { long s = 0;"
    for ((i = 0; i < 200; i++)); do
        echo "s += f[(x + $i) & 7](s & 7); s ^= w$i(x);"
    done
    echo "return s; }"
} >wide.h
cat >calls.c <<'SOURCE'
#include <alloca.h>
#include <immintrin.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DEPTH
#define DEPTH 100000
#endif
#define NOINLINE __attribute__((noipa))

static volatile long sink;

NOINLINE static long leaf(long x) { return x * 3 + 1; }
NOINLINE static long probe(long x) { return leaf(x) + (x ? probe(x - 1) : 0); }
#include "wide.h"

NOINLINE static long deep(long n)
{
    volatile char room[40];
    room[n % 40] = (char)n;
    if (n == 0)
        return leaf(1);
    return deep(n - 1) + room[n % 40] + leaf(n);
}

NOINLINE static long with_alloca(long n)
{
    char *room = alloca((size_t)(n * 37 % 9000) + 16);
    memset(room, (int)n, 16);
    long s = leaf(room[3]);
    if (n > 0)
        s += with_alloca(n - 1);
    return s + probe(room[7] & 3);
}

NOINLINE static long vla(long n)
{
    long s = 0;
    for (long i = 1; i < n; i++) {
        volatile char room[i * 13];
        room[i] = (char)i;
        s += probe(room[i] & 7);
    }
    return s;
}

NOINLINE static double aligned(double x, int n)
{
    __attribute__((aligned(64))) volatile double v[16];
    v[n & 15] = x;
    if ((unsigned long)v % 64)
        abort();
    sink += leaf(n);
    return n ? aligned(x * 0.5 + 1, n - 1) + v[n & 15] : v[0] + (double)probe(3);
}

NOINLINE static long sum(int n, ...)
{
    va_list list;
    long s = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        s += va_arg(list, long) + leaf(i);
    va_end(list);
    return s + probe(n & 3);
}

NOINLINE static double sum_doubles(int n, ...)
{
    va_list list;
    double s = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        s += va_arg(list, double);
    va_end(list);
    return s + (double)probe(2);
}

NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, long h, long i,
                          double x, double y, long double z)
{
    if (a > 0)
        return many(a - 1, c, b, e, d, g, f, i, h, y, x, z + 1) + leaf(a) * 3;
    return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + (long)(x * 10) +
           (long)(y * 11) + (long)(z * 12) + probe(2);
}

struct big {
    long words[40];
};

NOINLINE static struct big bigger(struct big b, long n)
{
    b.words[n % 40] += leaf(n);
    if (n > 0)
        return bigger(b, n - 1);
    sink += probe(4);
    return b;
}

NOINLINE static long double quad(long double x, int n)
{
    return n ? quad(x * 1.0625L, n - 1) + (long double)leaf(n) : x + (long double)probe(3);
}

NOINLINE static __int128 wide_int(__int128 x, int n)
{
    return n ? wide_int(x * 7 + 1, n - 1) ^ leaf(n) : x + probe(3);
}

NOINLINE static _Complex double complicated(_Complex double x, int n)
{
    return n ? complicated(x * x + 0.25, n - 1) + (double)leaf(n) : x + (double)probe(3);
}

NOINLINE static long call_it(long (*f)(long), long n)
{
    long s = 0;
    for (long i = 0; i < n; i++)
        s += f(i);
    return s;
}

NOINLINE static long nested(long n)
{
    long total = 0;
    __attribute__((noipa)) long inner(long i)
    {
        total += leaf(i);
        if (i & 1)
            return total;
        return probe(i & 3);
    }
    for (long i = 0; i < n; i++)
        inner(i);
    return total + call_it(inner, n);
}

__attribute__((noipa, target("avx2"))) static __m256d vector(__m256d x, int n)
{
    volatile __m256d kept = x;
    if (n == 0) {
        sink += probe(2);
        return kept;
    }
    return vector(kept * 0.5 + 1.0, n - 1) + kept * (double)leaf(n);
}

__attribute__((noipa, target("avx2"))) static double vectors(void)
{
    __m256d x = {1, 2, 3, 4};
    x = vector(x, 20);
    return x[0] + x[1] + x[2] + x[3];
}

__attribute__((noipa, regparm(3))) static long six(long a, long b, long c, long d, long e, long f)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + probe(a & 3);
}

/* where gcc knows what registers leaf functions spare */
__attribute__((noinline, noclone)) static long spare(long a) { return a * 5 + 3; }
__attribute__((noinline, noclone)) static long sparing(long a, long b) { return spare(a) ^ spare(b) ^ b; }
__attribute__((noinline, noclone)) static long spared(long a, long b, long c, long d, long e, long f)
{
    long s = sparing(a, b);
    s += a * b + c * d + e * f;
    s += sparing(c, d) + a + b + c;
    s ^= spare(s);
    return s + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

/* One place that calls by a pointer: many functions in turn, then few, then one of another image. */
NOINLINE static long by(long (*f)(long), long x) { return f(x) + 1; }
static long (*phased[9])(long);
NOINLINE static long back(long x) { return x > 2 ? by(phased[x & 7], x / 2) : x; }
NOINLINE static void phases(long (**targets)(long))
{
    for (int i = 0; i < 8; i++)
        phased[i] = targets[i];
    phased[8] = back;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 30000; i++)
            sink += by(phased[i * 7919 % 9], i & 7);
        for (int i = 0; i < 5000; i++)
            sink += by(phased[round], i & 7);
        for (int i = 0; i < 5000; i++)
            sink += by(i % 3 ? labs : phased[round + 1], i & 7);
        for (int i = 0; i < 20000; i++)
            sink += by(phased[i % 100 < 95 ? 8 : i & 7], i & 7);
    }
}
NOINLINE static int order(const void *a, const void *b)
{
    return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}

int main(int argc, char **argv)
{
    long (*targets[8])(long) = {probe, leaf, w0, w1, w2, w3, w4, w5};
    struct big b = {{0}};
    long numbers[50];

    printf("deep %ld\n", deep(DEPTH));
    for (int i = 0; i < 20; i++)
        sink += deep(i * 500);
    printf("deep again %ld %ld\n", deep(DEPTH), sink);
    printf("alloca %ld %ld\n", with_alloca(300), with_alloca(20));
    printf("vla %ld\n", vla(200));
    printf("aligned %g\n", aligned(2, 30));
    printf("varargs %ld %g\n", sum(9, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L),
           sum_doubles(10, 1., 2., 3., 4., 5., 6., 7., 8., 9., 10.));
    printf("many %ld\n", many(20, 1, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 3.5L));
    b = bigger(b, 100);
    printf("big %ld %ld\n", b.words[7], b.words[39]);
    printf("quad %Lg %ld\n", quad(1.5L, 40), (long)(wide_int(3, 100) >> 60));
    printf("complex %g\n", __real__ complicated(0.1 + 0.2i, 12));
    printf("nested %ld\n", nested(50));
    printf("vectors %g\n", vectors());
    for (int i = 0; i < 30; i++) {
        printf("wide %ld\n", wide(i));
        printf("wide pointers %ld\n", wide_pointers(targets, i));
    }
    for (long i = 0; i < 50; i++)
        numbers[i] = i * 7919 % 101;
    qsort(numbers, 50, sizeof *numbers, order);
    printf("sorted %ld %ld\n", numbers[0], numbers[49]);
    for (long i = 0; i < 1000; i++)
        sink += spared(i, i + 1, i * 2, i ^ 5, i - 7, i * i) + six(i, 1, 2, 3, 4, 5);
    printf("spared %ld\n", sink);
    phases(targets);
    printf("phases %ld\n", sink);
    return 3;
}
SOURCE
while read -r name flags; do
    # shellcheck disable=SC2086
    build "$name" "$work/calls.c" -w -I"$work" -z execstack $flags
    hooked "$name"
    same_tree "./$name"
done <<'EOL'
calls
calls_0 -O0 -DDEPTH=40000
calls_3 -DDEPTH=20000 -O3 -fipa-ra -fcf-protection -fno-plt -no-pie
calls_frame -DDEPTH=20000 -Os -fno-omit-frame-pointer
calls_realign -DDEPTH=20000 -mstackrealign -mavx2
EOL

# Jumps that leave, of every kind, and pointers, between images.
cat >other.c <<'SOURCE'
#define NOINLINE __attribute__((noipa))
#include "other.h"

NOINLINE long o_leaf(long x) { return x * 5 + 2; }
NOINLINE long o_named(long x) { return x + 1000 + o_leaf(x); } /* may be interposed */
NOINLINE long o_calls_named(long x) { return o_named(x) * 2 + o_leaf(x); }
NOINLINE long o_jumps_named(long x) { o_leaf(x); return o_named(x ^ 1); }
NOINLINE long o_jumps_if(long x)
{
    if (x & 1)
        return o_named(x);
    o_leaf(x);
    return o_leaf(x) + 1;
}
NOINLINE long o_back(fn *f, long n) { return n ? f(f, n - 1) : o_leaf(n); }
NOINLINE long o_apply(long (*f)(long), long n)
{
    long s = 0;
    for (long i = 0; i < n; i++)
        s += f(i);
    return s;
}
NOINLINE long o_apply_jump(long (*f)(long), long n) { o_leaf(n); return f(n); }
NOINLINE long o_twice(long x) { return o_leaf(x) + o_calls_named(x); }
long (*o_pointer(int i))(long)
{
    static long (*const all[])(long) = {o_leaf, o_named, o_calls_named, o_jumps_named, o_jumps_if, o_twice};
    return all[i % 6];
}
SOURCE
cat >other.h <<'SOURCE'
typedef long fn(void *, long);
long o_leaf(long), o_named(long), o_calls_named(long), o_jumps_named(long), o_jumps_if(long);
long o_back(fn *, long), o_apply(long (*)(long), long), o_apply_jump(long (*)(long), long), o_twice(long);
long (*o_pointer(int))(long);
SOURCE
cat >foreign.c <<'SOURCE'
#include "foreign.h"
#define NOINLINE __attribute__((noipa))
NOINLINE long f_leaf(long x) { return x * 9 + 4; }
NOINLINE long f_apply(long (*f)(long), long n)
{
    long s = 0;
    for (long i = 0; i < n; i++)
        s += f(i);
    return s;
}
NOINLINE long f_jump(long (*f)(long), long n) { f_leaf(n); return f(n); }
NOINLINE long f_again(long (*f)(long (*)(long), long), long (*g)(long), long n) { return f(g, n) + 1; }
SOURCE
cat >foreign.h <<'SOURCE'
long f_leaf(long), f_apply(long (*)(long), long), f_jump(long (*)(long), long);
long f_again(long (*)(long (*)(long), long), long (*)(long), long);
SOURCE
cat >inter.c <<'SOURCE'
long o_leaf(long);
__attribute__((noipa)) static long helper(long x) { return o_leaf(x) + 7; }
__attribute__((noipa)) long o_named(long x) { return x * 100000 + helper(x); }
SOURCE
cat >jumping.c <<'SOURCE'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "other.h"
#include "foreign.h"

#define NOINLINE __attribute__((noipa))
static volatile long sink;

NOINLINE static long leaf(long x) { sink++; return x * 3 + 1; }
NOINLINE static long plain(long x) { return leaf(x) + leaf(x + 1); }
NOINLINE static long g(long n, long s);
NOINLINE static long f(long n, long s) { if (!n) return plain(s); return g(n - 1, s + n); }
NOINLINE static long g(long n, long s) { if (!n) return leaf(s); return f(n - 1, s ^ n); }

NOINLINE static long pf(long n, long s, void **next);
typedef long step(long, long, void **);
NOINLINE static long pg(long n, long s, void **next)
{
    if (n == 0)
        return plain(s);
    leaf(n);
    return ((step *)next[n % 3])(n - 1, s + n, next);
}
NOINLINE static long pf(long n, long s, void **next)
{
    if (n == 0)
        return leaf(s);
    return ((step *)next[n % 2])(n - 1, s ^ n, next);
}
NOINLINE static long ph(long n, long s, void **next)
{
    volatile char room[100];
    room[n % 100] = 1;
    if (n == 0)
        return o_leaf(s);
    return pg(n - 1, plain(s) & 0xffff, next) + 1;
}

NOINLINE static long chain5(long x) { return leaf(x); }
NOINLINE static long chain4(long x) { if (x & 1) return chain5(x); return plain(x); }
NOINLINE static long chain3(long x) { plain(x); return chain4(x + 1); }
NOINLINE static long chain2(long x) { if (x % 3 == 0) return o_calls_named(x); return chain3(x); }
NOINLINE static long chain1(long x) { if (x % 5 == 0) return f_leaf(x); return chain2(x); }
NOINLINE static long to_foreign(long x) { leaf(x); return f_apply(plain, x); }
NOINLINE static long to_foreign_jump(long x) { leaf(x); return f_jump(chain1, x); }
NOINLINE static long to_other_jump(long x) { plain(x); return o_apply_jump(chain2, x); }
NOINLINE static long to_other_named(long x) { plain(x); return o_jumps_named(x); }
NOINLINE static long to_abs(long x) { plain(x); return labs(x); }
NOINLINE static long to_libc(long x) { plain(x); return atol("77"); }

NOINLINE static long bounce(fn *self, long n) { leaf(n); return o_back(self, n); }
NOINLINE static long bounce_not(fn *self, long n) { return o_back(self, n) + leaf(n); }

NOINLINE static long deep_jump(long n) { if (n == 0) return f(10, 3); return deep_jump(n - 1) + chain1(n); }

NOINLINE static long at_site(long (**t)(long), int count, int rounds)
{
    long s = 0;
    for (int i = 0; i < rounds; i++)
        s += t[i % count](i & 15);
    return s;
}
NOINLINE static long one_of(long (*t)(long), long x) { leaf(x); return t(x); }
NOINLINE static long one_of_calls(long (*t)(long), long x) { return t(x) + 1; }
NOINLINE static long at_jump(long (**t)(long), int count, int rounds)
{
    long s = 0;
    for (int i = 0; i < rounds; i++)
        s += one_of(t[i % count], i & 15) - one_of_calls(t[i * 7 % count], i & 7);
    return s;
}
struct object { long (**table)(long); };
NOINLINE static long virtual(struct object *o, int i, long x) { return o->table[i](x) + o->table[i + 1](x); }

NOINLINE static long library(const char *path, long x)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    long (*work)(long), s = 0;
    if (!handle) { printf("%s\n", dlerror()); exit(99); }
    work = (long (*)(long))dlsym(handle, "work");
    for (int i = 0; i < 30; i++)
        s += one_of_calls(work, x + i) + one_of(work, i);
    dlclose(handle);
    return s;
}

int main(int argc, char **argv)
{
    void *next[3] = {pg, pf, ph};
    long (*t[])(long) = {plain, leaf, chain1, chain2, o_leaf, o_named, o_twice, f_leaf, labs, to_foreign,
                         to_foreign_jump, to_other_jump, to_abs, to_libc, chain4};
    struct object o = {t};
    long part = atol(argv[1]); /* of what goes deep */

    printf("mutual %ld\n", f(10000000 / part, 1));
    printf("pointers %ld\n", pf(100000 / part, 1, next));
    for (long i = 0; i < 300; i++)
        sink += chain1(i);
    printf("chains %ld\n", sink);
    for (long i = 0; i < 40; i++)
        sink += to_foreign(i) + to_foreign_jump(i) + to_other_jump(i) + to_other_named(i) + to_abs(i) + to_libc(i);
    printf("out %ld\n", sink);
    printf("bounce %ld %ld\n", bounce((fn *)bounce, 20000 / part), bounce_not((fn *)bounce_not, 2000));
    printf("deep %ld\n", deep_jump(20000 / part));
    for (int count = 1; count <= 15; count++)
        printf("%d targets: %ld %ld\n", count, at_site(t, count, 200), at_jump(t, count, 200));
    for (int i = 0; i < 14; i++)
        for (int k = 0; k < 20; k++)
            sink += virtual(&o, i, k);
    printf("virtual %ld\n", sink);
    for (int i = 0; i < 60; i++) {
        sink += o_calls_named(i) + o_jumps_named(i) + o_jumps_if(i) + o_twice(i) + o_named(i);
        sink += o_apply(o_pointer(i), 10) + o_apply(plain, 10) + f_apply(o_pointer(i), 5);
        sink += o_apply(t[i % 15], 3) + f_again(o_apply, t[i % 15], 3) + f_again(f_apply, plain, 3);
        sink += o_pointer(i)(i) + o_pointer(i + 1)(i);
    }
    printf("others %ld\n", sink);
    for (int i = 2; i < argc; i++)
        printf("library %ld\n", library(argv[i], i));
    return 5;
}
SOURCE
for n in 1 2; do
    { echo "__attribute__((noipa)) static long h(long x) { return x * $n; }"
      ((n == 1)) || echo "__attribute__((noipa)) static long h2(long x) { return h(x + 3) - h(x); }"
      ((n == 1)) || echo "__attribute__((noipa)) long work(long x) { return h2(x) + h(x); }"
      ((n == 2)) || echo "__attribute__((noipa)) long work(long x) { return h(x) + 17; }"; } >lib$n.c
    build work$n.so "$work/lib$n.c" -shared -fPIC
done
for name in other inter; do
    build lib$name.so "$work/$name.c" -w -shared -fPIC -I"$work"
done
build libforeign.so "$work/foreign.c" -w -shared -fPIC -I"$work"
hooked libother.so libinter.so work1.so work2.so
for how in prologue copy; do
    cp native/libforeign.so $how
done
# Deep stacks are one program's; the others have a tenth of them.
while read -r name part flags; do
    rm -f native/libother.so
    # shellcheck disable=SC2086
    build libother.so "$work/other.c" -w -shared -fPIC -I"$work" $flags
    hooked libother.so
    # shellcheck disable=SC2086,SC2016
    build "$name" "$work/jumping.c" -w -I"$work" -Wl,-rpath,'$ORIGIN' $flags -Lnative -lother -lforeign
    hooked "$name"
    same_tree "./$name" "$part"
    same_tree "./$name" 10 ./work1.so ./work2.so ./work1.so ./work2.so
    [[ $name == jumping ]] || continue
    same_tree env LD_BIND_NOW=1 LD_PRELOAD=./libinter.so "./$name" 10
done <<'EOL'
jumping 1 -Wl,-z,lazy
jumping_3 10 -O3 -fno-plt -fcf-protection -Wl,-z,lazy
jumping_frame 10 -O1 -foptimize-sibling-calls -fno-omit-frame-pointer
EOL
language=cpp

# Calls out of foreign code, and ways out of it.
made callbacks <<'SOURCE'
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <unwind.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdexcept>
#include <string>
#include <search.h>
#include <ftw.h>

#define NOINLINE __attribute__((noipa))
static volatile long sink;
static jmp_buf places[200];
static int depth;

NOINLINE static long tip(long x) { sink = sink + 1; return x * 3 + 1; }
NOINLINE static long plain(long x) { return tip(x) + tip(x + 1); }
struct guard { long x; NOINLINE ~guard() { plain(x); } };

NOINLINE static int order(const void *a, const void *b)
{
    plain(3);
    return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}
NOINLINE static int order_deep(const void *a, const void *b)
{
    long numbers[6] = {5, 3, 1, 2, 6, 4};
    qsort(numbers, 6, sizeof *numbers, order);
    return order(a, b);
}
NOINLINE static int order_throws(const void *a, const void *b)
{
    if (tip(0) && ++depth % 7 == 0)
        throw std::runtime_error("order");
    return order(a, b);
}
NOINLINE static int order_jumps(const void *a, const void *b)
{
    if (tip(0) && ++depth % 9 == 0)
        longjmp(places[0], depth);
    return order(a, b);
}
NOINLINE static long sorts(int (*by)(const void *, const void *), int n)
{
    long numbers[64];
    for (long i = 0; i < 64; i++)
        numbers[i] = i * 7919 % 101;
    guard g{n};
    qsort(numbers, n, sizeof *numbers, by);
    return numbers[0] + plain(numbers[1]);
}
NOINLINE static long tries(int (*by)(const void *, const void *), int n)
{
    try {
        return sorts(by, n);
    } catch (const std::exception &e) {
        plain(n);
        return -1;
    }
}
NOINLINE static long rethrows(int (*by)(const void *, const void *), int n, int level)
{
    guard g{level};
    try {
        return level ? rethrows(by, n, level - 1) + tip(level) : sorts(by, n);
    } catch (...) {
        plain(level);
        if (level < 5)
            throw;
        return -level;
    }
}
NOINLINE static long jumps(int n)
{
    volatile long s = 0;
    for (volatile int i = 0; i < n; i++) {
        if (setjmp(places[0]) == 0)
            s += sorts(order_jumps, 40);
        s += plain(i);
    }
    return s;
}
NOINLINE static long inner(int n, int back) { if (n == 0) longjmp(places[back], 1); return inner(n - 1, back) + plain(n); }
NOINLINE static long outer(int n, int back)
{
    volatile long s = 0;
    if (n == 0)
        return inner(20, back);
    if (setjmp(places[n]) == 0)
        s += outer(n - 1, back);
    return s + plain(n);
}
/* a level is left in the middle of a loop, again and again */
NOINLINE static long loops(void)
{
    volatile long s = 0;
    for (volatile int k = 0; k < 10; k++)
        for (volatile int i = 1; i < 50; i++) {
            volatile char room[64];
            room[i] = (char)i;
            s += outer(i, 1 + i / 2) + room[i];
            tip(s);
        }
    return s;
}
static pthread_once_t once = PTHREAD_ONCE_INIT;
NOINLINE static void begin_once(void) { plain(1); sorts(order, 5); }
static void *root;
NOINLINE static void walk(const void *node, VISIT when, int level) { plain(level + when); }
NOINLINE static void at_end(void) { plain(7); sorts(order, 4); printf("end %ld\n", (long)sink); fflush(stdout); }
NOINLINE static long unwinds(int n)
{
    void *frames[200];
    if (n == 0)
        return backtrace(frames, 200) > 30;
    return unwinds(n - 1) + plain(n);
}
NOINLINE static _Unwind_Reason_Code seen(struct _Unwind_Context *, void *count) { plain(2); return ++*(long *)count == 16 ? _URC_END_OF_STACK : _URC_NO_REASON; }
NOINLINE static long walks(int n)
{
    long count = 0;
    if (n == 0) {
        _Unwind_Backtrace(seen, &count);
        return count > 15;
    }
    return walks(n - 1) + tip(n);
}
NOINLINE static long thrower(int n) { guard g{n}; if (n == 0) throw 5L; return thrower(n - 1) + plain(n); }
NOINLINE static long catcher(int n) { try { return thrower(n); } catch (long x) { return plain(x); } }
struct base { virtual long work(long) = 0; virtual ~base() {} };
struct one : base { NOINLINE long work(long x) override { return plain(x); } NOINLINE ~one() { tip(1); } };
struct two : base { NOINLINE long work(long x) override { if (x % 5 == 0) throw x; return tip(x); } };
struct three : two { NOINLINE long work(long x) override { return two::work(x) + 1; } };
NOINLINE static long work_all(base **all, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        try { s += all[i % 3]->work(i); } catch (long x) { s += plain(x); }
    return s;
}
NOINLINE static void no_throw(long n) noexcept(false) { if (n % 3 == 0) throw std::string("x"); plain(n); }
NOINLINE static void tail_throw(long n) { tip(n); return no_throw(n); }
NOINLINE static long tails(int n) { long s = 0; for (int i = 0; i < n; i++) try { tail_throw(i); s++; } catch (std::string &) { s += tip(i); } return s; }

int main(int argc, char **argv)
{
    atexit(at_end);
    printf("sorts %ld %ld\n", sorts(order, 60), sorts(order_deep, 20));
    for (int i = 0; i < 300; i++)
        sink = sink + tries(order_throws, 10 + i % 50) + rethrows(order_throws, 30, i % 8 % 6 + (i % 8 > 5 ? 5 : 5));
    printf("throws %ld\n", (long)sink);
    printf("jumps %ld\n", jumps(100));
    printf("loops %ld\n", loops());
    for (int i = 0; i < 3; i++)
        pthread_once(&once, begin_once);
    for (long i = 0; i < 30; i++)
        tsearch((void *)(i * 7 % 31 + 1), &root, [](const void *a, const void *b) { return (int)((long)a - (long)b + tip(0) * 0); });
    twalk(root, (__action_fn_t)walk);
    printf("unwinds %ld %ld\n", unwinds(40), walks(20));
    for (int i = 0; i < 3000; i++)
        sink = sink + catcher(i % 30);
    base *all[3] = {new one, new two, new three};
    printf("virtual %ld tails %ld\n", work_all(all, 1000), tails(1000));
    for (base *b : all)
        delete b;
    std::string s = "hello, world, and all";
    std::sort(s.begin(), s.end(), [](char a, char b) { return tip(a) < tip(b); });
    printf("%s\n", s.c_str());
    if (argc > 1)
        exit(argc);
    return 4;
}
SOURCE
same_tree ./callbacks
for flags in "-O0" "-O2 -fno-omit-frame-pointer -fcf-protection"; do
    # shellcheck disable=SC2086
    build callbacks "$work/callbacks.cpp" -w $flags
    hooked callbacks
    same_tree ./callbacks
done
language=c

# Stacks, threads, signals, processes: what it does is the same; trees where they can be.
made stacks -ldl <<'SOURCE'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))
extern char **environ;
static __thread volatile long sink;

NOINLINE static long leaf(long x) { sink++; return x * 3 + 1; }
NOINLINE static long plain(long x) { return leaf(x) + leaf(x + 1); }
NOINLINE static int order(const void *a, const void *b)
{
    plain(3);
    return *(const long *)a < *(const long *)b ? -1 : *(const long *)a > *(const long *)b;
}
NOINLINE static long sorts(int n)
{
    long numbers[64];
    for (long i = 0; i < 64; i++)
        numbers[i] = i * 7919 % 101;
    qsort(numbers, n, sizeof *numbers, order);
    return numbers[0] + plain(numbers[1]);
}
NOINLINE static long by_pointer(long (*f)(long), long x) { return f(x) + 1; }
NOINLINE static long deep(long n, long (*f)(long)) { return n ? deep(n - 1, f) + leaf(n) : by_pointer(f, n); }

/* threads */
NOINLINE static void cleaned(void *x) { plain((long)x); }
NOINLINE static void leaves(long n) { if (n == 0) pthread_exit((void *)7); leaves(n - 1); plain(n); }
NOINLINE static void *threaded(void *x)
{
    long n = (long)x;
    for (int i = 0; i < 300; i++)
        deep(i % 40 + n, i & 1 ? plain : (long (*)(long))sorts);
    pthread_cleanup_push(cleaned, x);
    if (n & 1)
        leaves(n * 10);
    if (n == 4)
        for (;;) { pthread_testcancel(); leaf(1); }
    pthread_cleanup_pop(1);
    return x;
}
NOINLINE static void *threads_begin(void *x)
{
    pthread_t threads[6];
    void *result;
    for (long i = 0; i < 6; i++) {
        if (i == 4) continue;
        pthread_create(&threads[i], NULL, threaded, (void *)i);
        pthread_join(threads[i], &result);
        printf("thread %ld: %ld\n", i, (long)result);
    }
    for (long i = 0; i < 6; i++)
        if (i != 4)
            pthread_create(&threads[i], NULL, threaded, (void *)2);
    for (long i = 0; i < 6; i++)
        if (i != 4)
            pthread_join(threads[i], &result);
    return x;
}
static void cancel(void)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, threaded, (void *)4);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

/* coroutines */
static ucontext_t mains, coroutines[4];
static int turn;
NOINLINE static long yields(long n)
{
    if (n) { long s = yields(n - 1); return s + leaf(n); }
    int me = turn;
    swapcontext(&coroutines[me], &mains);
    return plain(me);
}
NOINLINE static void coroutine(void)
{
    for (int i = 0; i < 20; i++) {
        yields(i);
        sorts(10 + i);
        deep(i, plain);
    }
}
static char *stack_of(int i)
{
    return mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
NOINLINE static void run_all(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        turn = i % 4;
        swapcontext(&mains, &coroutines[turn]);
        plain(i);
    }
}
NOINLINE static void *run_thread(void *rounds) { run_all((long)rounds); return 0; }
NOINLINE static void coroutines_begin(char *memory)
{
    for (int i = 0; i < 4; i++) {
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = memory ? memory + i * 40000 : stack_of(i);
        coroutines[i].uc_stack.ss_size = memory ? 40000 : 1 << 17;
        coroutines[i].uc_link = &mains;
        makecontext(&coroutines[i], coroutine, 0);
    }
}
NOINLINE static void coroutines_run(int moves)
{
    pthread_t thread;
    coroutines_begin(NULL);
    run_all(33);
    if (moves) {
        pthread_create(&thread, NULL, run_thread, (void *)22);
        pthread_join(thread, NULL);
    }
    run_all(17);
}
NOINLINE static void coroutines_inside(void)
{
    char memory[4 * 40000];
    coroutines_begin(memory);
    run_all(70);
    plain(memory[0] & 0);
}

/* signals */
static jmp_buf out;
static volatile int ticks;
NOINLINE static void handler(int signal) { int e = errno; ticks++; deep(5, plain); sorts(6); errno = e; }
NOINLINE static void jumps_out(int signal) { plain(1); siglongjmp(out, 1); }
NOINLINE static void nests(int signal) { plain(2); if (signal == SIGUSR1) raise(SIGUSR2); leaf(1); }
static void handle(int signal, void (*f)(int), int flags)
{
    struct sigaction action = {.sa_handler = f, .sa_flags = flags};
    sigaction(signal, &action, NULL);
}
NOINLINE static void signals(void)
{
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct itimerspec often = {{0, 100000}, {0, 100000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    long s = 0;
    sigaltstack(&stack, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    for (int flags = 0; flags < 2; flags++) {
        handle(SIGALRM, handler, flags ? SA_ONSTACK : 0);
        timer_settime(timer, 0, &often, NULL);
        int until = ticks + 100;
        while (ticks < until)
            s += deep(30, plain) - deep(30, plain) + sorts(20) - sorts(20);
        timer_settime(timer, 0, &(struct itimerspec){0}, NULL);
        handle(SIGUSR1, nests, flags ? SA_ONSTACK : 0);
        handle(SIGUSR2, nests, flags ? SA_ONSTACK | SA_NODEFER : 0);
        for (int i = 0; i < 50; i++) { raise(SIGUSR1); s += sorts(4) - sorts(4); }
        handle(SIGUSR1, jumps_out, SA_NODEFER | (flags ? SA_ONSTACK : 0));
        for (volatile int i = 0; i < 200; i++) {
            if (sigsetjmp(out, 1) == 0) { deep(i % 20, (long (*)(long))raise == 0 ? plain : plain); raise(SIGUSR1); }
            s += sorts(5) - sorts(5) + deep(3, plain) - deep(3, plain);
        }
        handle(SIGALRM, jumps_out, SA_NODEFER | (flags ? SA_ONSTACK : 0));
        timer_settime(timer, 0, &(struct itimerspec){{0}, {0, 50000}}, NULL);
        for (volatile int i = 0; i < 100; i++)
            if (sigsetjmp(out, 1) == 0) {
                timer_settime(timer, 0, &(struct itimerspec){{0}, {0, 50000 + i * 777}}, NULL);
                for (;;)
                    deep(60, (long (*)(long))sorts) ;
            }
    }
    timer_delete(timer);
    printf("signals %ld\n", s);
}

/* processes */
NOINLINE static long forks(long n)
{
    if (n == 0) {
        fflush(stdout);
        pid_t child = fork();
        if (child) {
            int status;
            waitpid(child, &status, 0);
            printf("child %d\n", status);
            return 0;
        }
        deep(50, plain);
        return 1;
    }
    long child = forks(n - 1);
    plain(n);
    sorts((int)n % 30 + 2);
    return child;
}
NOINLINE static long raw(long n, int flags)
{
    if (n == 0) {
        fflush(stdout);
        long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
        if (child) {
            int status;
            waitpid((pid_t)child, &status, 0);
            printf("raw child %d\n", status);
            return 0;
        }
        deep(50, plain);
        return 1;
    }
    long child = raw(n - 1, flags);
    plain(n);
    sorts((int)n % 30 + 2);
    return child;
}
NOINLINE static void spawns(void)
{
    char *arguments[] = {"sh", "-c", "exit 6", NULL};
    int status;
    for (int i = 0; i < 3; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execve("/bin/sh", arguments, environ);
            _exit(9);
        }
        plain(1);
        waitpid(child, &status, 0);
        printf("vfork %d\n", status);
        posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
        sorts(4);
        waitpid(child, &status, 0);
        printf("spawn %d\n", status);
    }
}
NOINLINE static void at_end(void) { plain(1); sorts(9); }
NOINLINE static long ends(long n) { if (n == 0) { sorts(3); exit(11); } return ends(n - 1) + plain(n); }

int main(int argc, char **argv)
{
    const char *what = argv[1];
    if (!strcmp(what, "threads")) threads_begin(0);
    if (!strcmp(what, "cancel")) cancel();
    if (!strcmp(what, "coroutines")) coroutines_run(0);
    if (!strcmp(what, "moving")) coroutines_run(1);
    if (!strcmp(what, "inside")) coroutines_inside();
    if (!strcmp(what, "signals")) signals();
    if (!strcmp(what, "fork")) { if (forks(100)) { sorts(7); exit(3); } sorts(8); forks(3); }
    if (!strcmp(what, "raw")) { if (raw(100, 0)) { sorts(7); exit(3); } sorts(8); }
    if (!strcmp(what, "spawns")) spawns();
    if (!strcmp(what, "end")) { atexit(at_end); ends(50); }
    sorts(20);
    plain(4);
    printf("%s\n", what);
    return 2;
}
SOURCE
for what in threads coroutines moving fork raw spawns end; do
    same_tree ./stacks $what
done
for what in cancel inside; do
    runs ./stacks $what
done
balanced=nearly_balanced
runs ./stacks signals
balanced=balanced

# Pauses, with frames that go on behind them, and libraries that come and go in each other's place.
build amid_pauses amid_pauses.c
build plugin_one plugin.c -shared -fPIC
build plugin_three plugin.c -shared -fPIC -DPLUGIN_FACTOR=3
build plugins plugins.c
hooked amid_pauses plugin_one plugin_three plugins
SERVICE=$BUILD/service/call_trace_service runs ./amid_pauses
contains summary '^  paused +11 times'
sites='=alone'
same_tree ./plugins ./plugin_one ./plugin_three
sites=

# Handlers are called by whoever is interrupted: a copy, one that has been called from below, a leaf.
build interrupted_calls interrupted_calls.c
hooked interrupted_calls
same_tree ./interrupted_calls
