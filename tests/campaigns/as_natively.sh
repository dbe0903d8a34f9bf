# Programs that do natively what they do under `umbra record`, in several ways. To be sourced behind lib.sh by a
# script that defines
#
#     table           prints lines: a name, then what a shell runs in a folder with the files of prepare
#     prepare_more    makes further files
#
# and then calls all_as_natively. What a program prints, how it ends and what it leaves are compared, with ERRORS=yes
# also what it prints to its standard error. PROGRAMS: names of some; WAYS: ways that recorded_as knows; TENTH_WAYS:
# those of every tenth program.

umbra=$BUILD/front/umbra
user=4711

# What they are given, the same each time.
prepare()
{
    local i
    for ((i = 0; i < 6000; i++)); do echo "$i words $((i * 7919 % 10007)) quick brown"; done >words
    sed 's/brown/fox/; 5d' words >words2
    {
        echo 'a,b,c'
        for ((i = 0; i < 3000; i++)); do echo "$i,g$((i % 7)),$((i * 31 % 101))"; done
    } >data.csv
    for ((i = 0; i < 60; i++)); do printf '# Part %d\n\nSome *words* and `code`, [a link](http://x/%d), and a mistaek.\n\n- one\n- two\n\n' $i $i; done >text.md
    {
        echo '<?xml version="1.0"?><html><head><title>t</title></head><body><h1>Head</h1><ul>'
        for ((i = 0; i < 50; i++)); do echo "<li>item $i &amp; more</li>"; done
        echo '</ul><table><tr><td>a</td><td>b</td></tr></table></body></html>'
    } >page.html
    echo '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="text"/><xsl:template match="/"><xsl:for-each select="//li"><xsl:sort select="." order="descending"/><xsl:value-of select="concat(position(), . , &apos;&#10;&apos;)"/></xsl:for-each></xsl:template></xsl:stylesheet>' >page.xsl
    { echo .TL; echo Words; echo .PP; head -300 words; } >words.ms
    printf '\\input texinfo\n@settitle T\n@node Top\n@top T\n@menu\n* A::\n@end menu\n@node A\n@chapter A\n@itemize\n@item one\n@item two\n@end itemize\n@bye\n' >book.texi
    printf '%%!PS\n/Helvetica findfont 40 scalefont setfont 100 400 moveto (Hello) show 1 1 40 { 10 mul 100 moveto 50 50 rlineto stroke } for showpage\n' >page.ps
    gs -q -dNOPAUSE -dBATCH -sDEVICE=pdfwrite -sOutputFile=page.pdf page.ps
    awk 'BEGIN { print "P3 96 96 255"; for (y = 0; y < 96; y++) for (x = 0; x < 96; x++) print (x * 5) % 256, (y * 3 + x) % 256, (x * y) % 256 }' >image.ppm
    awk 'BEGIN { for (f = 0; f < 12; f++) { for (i = 0; i < 9216; i++) printf "%c", 32 + (i * 7 + f * 5 + int(i / 96) * f) % 90; for (i = 0; i < 4608; i++) printf "%c", 64 + (i + f) % 50 } }' >image.yuv
    sox -R -n -r 22050 -b 16 sound.wav synth 2 pluck 300 2>/dev/null
    printf '#include <stdio.h>\nint twice(int n){return 2*n;}\nint main(void){int unused; if(twice(3)==6){puts("hello");}\nreturn 0;}\n' >hello.c
    gcc -g -w hello.c -o hello
    printf 'int twice(int n);\n' >hello.i
    printf '      program s\n      integer i\n      real*8 x\n      x = 0\n      do 10 i = 1, 1000\n   10 x = x + 1d0 / i\n      print "(f12.8)", x\n      end\n' >sum.f
    { echo 'digraph g {'; for ((i = 1; i < 60; i++)); do echo "n$i -> n$((i * 7 % 60)); n$((i / 2)) -> n$i;"; done; echo '}'; } >graph.dot
    for ((i = 0; i < 10; i++)); do echo "$i $((i * i))"; done >points
    printf 'REM Jan 5 MSG five\nREM 1 Feb 2026 *3 MSG three\n' >dates.rem
    printf 'server.document-root = "@"\nserver.bind = "@/l.sock"\nserver.pid-file = "@/l.pid"\n' >lighttpd.conf
    printf 'domain=x.test\naddress=/a.x.test/127.0.0.1\n' >dnsmasq.conf
    mkdir -p tree/a/b proj
    for ((i = 0; i < 20; i++)); do head -c $((i * 100)) words >tree/a/f$i; cp tree/a/f$i tree/a/b/; done
    printf 'section .text\nglobal f\nf: mov eax, [rdi+8*rsi]\n%%rep 50\n add eax, 3\n%%endrep\n ret\n' >code.asm
    printf 'using System; class H { static int F(int n) { return n < 2 ? n : F(n-1) + F(n-2); } static void Main() { Console.WriteLine(F(22)); try { throw new Exception("x"); } catch (Exception e) { Console.WriteLine(e.Message); } } }\n' >h.cs
    printf 'module Main where\nimport qualified Data.Map as M\nmain :: IO ()\nmain = do { print (sum [x * x `mod` 97 | x <- [1 .. 100000 :: Int]]); print (M.size (M.fromListWith (+) [(x `mod` 97, x) | x <- [1 .. 20000 :: Int]])) }\n' >Main.hs
    printf 'import java.util.*; public class J { public static void main(String[] a) throws Exception { Map<Integer,Integer> m = new TreeMap<>(); for (int i = 0; i < 200000; i++) m.merge(i %% 97, i, Integer::sum); System.out.println(m.get(13)); try { throw new RuntimeException("x"); } catch (RuntimeException e) { System.out.println(e.getMessage()); } Thread t = new Thread(() -> System.out.println("thread")); t.start(); t.join(); } }\n' >J.java
    printf 'define(`f'"'"', `ifelse($1, 0, 0, $1, 1, 1, `eval(f(decr($1)) + f(decr(decr($1))))'"'"')'"'"')f(12)\n' >fib.m4
    printf '%%option noyywrap\n%%{\nint n, w;\n%%}\n%%%%\n[0-9]+ n++;\n[a-z]+ w++;\n.|\\n ;\n%%%%\nint main(void) { yylex(); printf("%%d %%d\\n", n, w); return 0; }\n' >scan.l
    printf '%%{\n#include <stdio.h>\n#include <ctype.h>\nint yylex(void);\nvoid yyerror(const char *s) { puts(s); }\n%%}\n%%token N\n%%left %s\n%%left %s\n%%%%\ns: e { printf("%%d\\n", $1); }\ne: e %s e { $$ = $1 + $3; } | e %s e { $$ = $1 * $3; } | N\n%%%%\nint yylex(void) { int c = getchar(); if (isdigit(c)) { yylval = c - 48; return N; } return c == 10 || c < 0 ? 0 : c; }\nint main(void) { return yyparse(); }\n' "'+'" "'*'" "'+'" "'*'" >calc.y
    printf 'int f(const char *s) {\n/*!re2c re2c:define:YYCTYPE = char; re2c:define:YYCURSOR = s; re2c:yyfill:enable = 0;\n[0-9]+ { return 1; } [a-z]+ { return 2; } * { return 0; } */\n}\n' >token.re
    printf '%%%%{ machine m; main := ("ab" | "cd"+ [0-9]*)* @{ n++; }; write data; }%%%%\nint n;\n%%%% write exec;\n' >machine.rl
    printf '#!/bin/sh\nfor f in $(ls *.c); do echo $f; done\nif [ $1 == x ]; then cd foo; fi\n' >script.sh
    printf 'rule cc\n command = gcc -w $in -o $out\nbuild n1: cc hello.c\n' >build.ninja.in
    printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(app ../hello.c)\n' >proj/CMakeLists.txt
    printf 'Program("sapp", "app.c")\n' >proj/SConstruct
    cp hello.c proj/app.c
    printf 'camera { location <0,2,-5> look_at 0 } light_source { <2,4,-3> rgb 1 } sphere { 0, 1 pigment { rgb <1,0,0> } finish { phong 1 } } plane { y, -1 pigment { checker rgb 1 rgb 0 } }\n' >scene.pov
}

# in_folder NAME WAY [COMMAND…]: runs what NAME does in a fresh copy of the files: NAME.WAY has what it printed, how
# it ended and what it left.
in_folder()
{
    local name=$1 way=$2 status=0
    shift 2
    rm -rf here
    cp -rp files here
    [[ $way != *user ]] || chown -R $user:$user here
    (cd here && exec timeout -k 5 300 "$@" sh "../$name.sh") >"$name.$way" 2>"$name.$way.err" </dev/null || status=$?
    [[ ! ${ERRORS:-} ]] || cat "$name.$way.err" >>"$name.$way"
    echo "status $status" >>"$name.$way"
    (cd here && find . -type f ! -name '*.data' ! -path '*/umbra.data/*' -newer ../began -print0 | sort -z | xargs -0r cksum) >"$name.$way.files" 2>&1 || true
    cut -d' ' -f3- "$name.$way.files" >>"$name.$way"
}

recorded_by_user()
{
    in_folder "$name" "$way" env HOME="$work/home" XDG_CACHE_HOME="$work/home/cache" \
        XDG_RUNTIME_DIR="$work/home/run" setpriv --reuid=$user --regid=$user --clear-groups \
        "$umbra" record --quiet "$1" -o "$work/home/rec" --
}

recorded_as()
{
    case $1 in
        default) in_folder "$name" "$1" "$umbra" record --quiet -o "$work/rec" -- ;;
        prologue) in_folder "$name" "$1" "$umbra" record --quiet --how=prologue --timing=adaptive -o "$work/rec" -- ;;
        copy) in_folder "$name" "$1" "$umbra" record --quiet --how=copy --timing=adaptive -o "$work/rec" -- ;;
        paused) in_folder "$name" "$1" "$umbra" record --quiet --how=copy --timing=adaptive --paused -o "$work/rec" -- ;;
        samples_timer) in_folder "$name" "$1" "$umbra" record --quiet --samples=timer \
            -o "$work/rec" -- ;;
        samples_often) in_folder "$name" "$1" "$umbra" record --quiet --samples=timer --samples=10000 \
            -o "$work/rec" -- ;;
        samples_perf) in_folder "$name" "$1" "$umbra" record --quiet --samples=perf -o "$work/rec" -- ;;
        exact) in_folder "$name" "$1" "$umbra" record --quiet --timing=exact -o "$work/rec" -- ;;
        prologue_sampled) in_folder "$name" "$1" "$umbra" record --quiet --how=prologue -o "$work/rec" -- ;;
        user) recorded_by_user --how=copy ;;
        prologue_user) recorded_by_user --how=prologue ;;
        timer_user) recorded_by_user --samples=timer ;;
    esac
}

# The native run that a way is compared with: by the same user.
native_as()
{
    if [[ $1 == user ]]; then
        in_folder "$name" native.user env HOME="$work/home" setpriv --reuid=$user --regid=$user --clear-groups
    else
        in_folder "$name" native env
    fi
}

unbalanced()
{
    "$umbra" report --text "$1" 2>&1 >/dev/null | grep -m1 'expected entries' || true
}

# recorded_differs: says so, if it does.
recorded_differs()
{
    local expected=$name.native recording=rec problem=
    if [[ $way == *user ]]; then
        native_as user
        expected=$name.native.user recording=home/rec
    fi
    recorded_as "$way"
    cmp -s "$expected" "$name.$way" ||
        problem="$(diff -a "$expected" "$name.$way" | sed -n 2,3p | tr '\n' ' ')$(tail -n 1 "$name.$way.err")"
    [[ $way == paused || $problem ]] || problem=$(unbalanced "$recording")
    rm -rf rec rec.old home/rec home/rec.old
    [[ $problem ]] || return 1
    echo "$name, $way: ${problem:0:240}"
}

all_as_natively()
{
    local name body way ways failures=0 tried=0 recordings=0 has_no_user=
    mkdir -p files
    (cd files && prepare && prepare_more) >prepared 2>&1
    touch began
    chmod 755 "$work"
    export XDG_CACHE_HOME=$work/cache
    mkdir -m 700 home home/run home/cache
    chown -R $user home 2>/dev/null || has_no_user=yes
    table >table
    while read -r name body; do
        [[ ! ${PROGRAMS:-} || " $PROGRAMS " == *" $name "* ]] || continue
        tried=$((tried + 1))
        echo "$body" >"$name.sh"
        native_as root
        in_folder "$name" again env
        if ! cmp -s "$name.native" "$name.again"; then
            echo "$name: differs natively: $(diff -a "$name.native" "$name.again" | sed -n 2p)"
            failures=$((failures + 1))
            continue
        fi
        ways=$WAYS
        ((tried % 10 > 0)) || ways+=" ${TENTH_WAYS:-}"
        for way in $ways; do
            [[ ! $has_no_user || $way != *user ]] || continue
            recordings=$((recordings + 1))
            ! recorded_differs || failures=$((failures + 1))
        done
    done <table
    echo "$tried programs tried, in these ways: $WAYS${TENTH_WAYS:+, and a tenth: $TENTH_WAYS}:" \
        "$recordings recordings, $failures differed"
    ((failures == 0))
}
