#!/bin/bash
# Programs with copied bodies do what they did, though the originals of the copies are overwritten; the
# image is its original but for what the manifest says, and undoing gives that back.
# needs: binutils lua5.4 sqlite3
. "$(dirname "$0")/lib.sh"

# copied NAME [OPTION...]: instrumented/NAME with copied bodies, proven and undone.
copied()
{
    local name=$1
    instrumented "$@" --how=copy
    instrument --verify "instrumented/$name" >verified
    contains verified "$(sed -nE 's/.* ([0-9]+) hooked.*/verified: \1 of/p' instrumented.line)"
    instrument --undo "instrumented/$name" -o undone --overwrite
    cmp undone "native/$name"
}

# size_of FOLDER SECTION NAME, in bytes
size_of()
{
    readelf -SW "$1/$3" | sed -E 's/^ *\[ *[0-9]+\] //' | awk -v name="$2" \
        '$1 == name { print strtonum("0x" $5) }'
}

# Each compiler and level makes other tables, tail calls and cold parts.
levels=(-O0 -O1 -O2 -O3 -Os '-O2 -fno-pie -no-pie' '-O2 -fno-plt' '-O2 -fcf-protection=full'
    -static -static-pie
    '-O2 -fomit-frame-pointer -fno-optimize-sibling-calls')
for compiler in gcc clang; do
    type "$compiler" >/dev/null 2>&1 || continue
    for level in "${levels[@]}"; do
        # shellcheck disable=SC2086
        CC=$compiler build copied copied.c $level
        copied copied
        same copied
        copied copied --poison
        recorded copied
    done
done

# Where the agent never begins, copied bodies return all the same.
if ((EUID == 0)); then
    CC=gcc build lent copied.c -static
    copied lent
    chown 65534 native/lent instrumented/lent
    chmod 4755 native/lent instrumented/lent
    same lent
fi

# Nothing is left of an original but its patch.
objdump -d --no-show-raw-insn instrumented/copied | awk '/^$/ { inside = 0 } inside; /<leaf>:/ { inside = 1 }' \
    >disassembled
[[ $(grep -c int3 disassembled) -ge 3 ]] || { cat disassembled; fail "leaf is not overwritten"; }

CXX='g++ -w' build exceptions exceptions.cpp
copied exceptions --poison
same exceptions
for program in coroutines jumps conventions edges two_threads; do
    build "$program" "$program.c"
    copied "$program" --poison
    same "$program"
done

cp /usr/bin/lua5.4 native/lua5.4
copied lua5.4 --poison
same lua5.4 "$TESTS/../samples/words.lua" 20000
original=$(size_of native .text lua5.4) stubs=$(size_of instrumented .umbra.stubs lua5.4)
((stubs > original)) || fail "the bodies of lua5.4 are not copied: $stubs bytes for $original"

export LD_LIBRARY_PATH=.
cp -L /usr/lib/x86_64-linux-gnu/libsqlite3.so.0 native/
cp /usr/bin/sqlite3 native/
copied libsqlite3.so.0 --poison
copied sqlite3 --poison
{
    echo "create table t(a integer primary key, b text, c real);"
    echo "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)"
    echo "    insert into t select i, 'x' || (i * 7919 % 1009), i * 1.5 from n;"
    echo "create index tb on t(b); select b, count(*), sum(c) from t group by b order by 2 desc, 1 limit 9;"
    echo "select printf('%08.3f', 3.14159), date('2020-01-31', '+1 month'), json_array(1, 'x');"
    echo "pragma integrity_check; select * from nonexistent;"
} >work.sql
same sqlite3 :memory: ".read $work/work.sql"

# What is refused says so.
instrument native/copied -o refused --how=both 2>said && fail "--how=both is taken"
contains said '--how'
instrument --how=prologue native/copied -o refused --poison 2>said && fail "--poison without copies is taken"
contains said '--poison is for --how=copy'
instrument --list --how=copy "$TESTS/fuzz/seeds/mingw.dll" >listed 2>said && fail "--how=copy of a DLL is taken"
contains said 'bodies are copied in ELF files for x86-64 only'
instrument --list --how=auto "$TESTS/fuzz/seeds/mingw.dll" >listed
