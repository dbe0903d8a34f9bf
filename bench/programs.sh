# The programs that benchmarks run. To be sourced by bash, with `top`, `build` (see build.sh), `work`
# (a folder of the script's own) and `quick` (empty, or for smaller programs) set; `how` too, if they are
# to be instrumented so.

sources=$top/bench/workloads
optimize=(-O2 -g -pthread -fno-inline -fno-optimize-sibling-calls)

note()
{
    echo "$*" >&2
}

# With the agent of the program's processor, which is built beside it.
instrument()
{
    "$build/rewriter/instrument" --overwrite ${how:+--how="$how"} "$@" >/dev/null
}

# For which blocks run, and nothing else; not with prologue hooks, which cannot.
cover()
{
    "$build/rewriter/instrument" --agent="$build/hooks/libhooks.so" --overwrite --count=blocks --once --no-calls "$@" \
        >/dev/null
}

count()
{
    "$build/rewriter/instrument" --agent="$build/hooks/libhooks.so" --overwrite --count=instructions "$@" >/dev/null
}

count_without_calls()
{
    count --no-calls "$@"
}

# compile FILE SOURCE OPTION…
compile()
{
    local file=$1 source=$2 compiler=gcc
    shift 2
    [[ $source == *.cpp ]] && compiler=g++
    "$compiler" "${optimize[@]}" "$@" "$source" -o "$file"
}

# from_source NAME SOURCE [OPTION…]: NAME/program in native, pg, minimal; arguments come from the caller
from_source()
{
    local name=$1 source=$2
    shift 2
    compile "$work/$name/native/program" "$source" "$@"
    [[ $source == *.cpp ]] && return
    compile "$work/$name/pg/program" "$source" "$@" -pg
    gcc -O2 "$@" -c "$sources/minimal_hook.c" -o "$work/minimal_hook.o"
    compile "$work/$name/minimal/program" "$source" "$@" -finstrument-functions "$work/minimal_hook.o"
}

# Whether programs of 32 bits can be built, and run.
has_i386()
{
    echo 'int main(void) { return 0; }' | gcc -m32 -x c - -o "$work/narrow" 2>/dev/null && "$work/narrow"
}

# installed NAME FILE: NAME/native/program is a copy of it; false if there is none
installed()
{
    [[ -x $2 ]] && cp "$2" "$work/$1/native/program"
}

# prepare NAME: folders for each mode, the program in those that have one; sets `arguments`.
# Every mode runs ./program in its folder.
prepare()
{
    local name=$1 mode library narrow=
    if [[ $name == *32 ]]; then
        has_i386 || return
        narrow=-m32
    fi
    for mode in native instrumented covered counted uncalled pg minimal; do
        mkdir -p "$work/$name/$mode"
    done
    case $name in
        fib | fib32)
            from_source "$name" "$sources/fib.c" $narrow
            arguments=($([[ $quick ]] && echo 35 || echo 37)) ;;
        threads | threads32)
            from_source "$name" "$sources/fib.c" $narrow
            arguments=($([[ $quick ]] && echo 33 || echo 35) 4) ;;
        formulas)
            from_source formulas "$sources/formulas.c"
            arguments=($([[ $quick ]] && echo 10000 || echo 50000)) ;;
        exceptions) from_source exceptions "$top/samples/exceptions.cpp"; arguments=() ;;
        longjmps) from_source longjmps "$top/samples/longjmps.c"; arguments=() ;;
        lua)
            command -v lua5.4 >/dev/null || return
            cp "$(readlink -f "$(command -v lua5.4)")" "$work/lua/native/program"
            arguments=("$top/samples/words.lua" $([[ $quick ]] && echo 500000 || echo 1500000)) ;;
        sqlite)
            command -v sqlite3 >/dev/null || return
            cp "$(command -v sqlite3)" "$work/sqlite/native/program"
            library=$(ldd "$work/sqlite/native/program" | awk '/libsqlite3/ { print $3 }')
            if [[ $library ]]; then
                cp "$(readlink -f "$library")" "$work/sqlite/native/$(basename "$library")"
                instrument "$work/sqlite/native/$(basename "$library")" \
                    -o "$work/sqlite/instrumented/$(basename "$library")"
                cover "$work/sqlite/native/$(basename "$library")" \
                    -o "$work/sqlite/covered/$(basename "$library")"
                count "$work/sqlite/native/$(basename "$library")" \
                    -o "$work/sqlite/counted/$(basename "$library")"
                count_without_calls "$work/sqlite/native/$(basename "$library")" \
                    -o "$work/sqlite/uncalled/$(basename "$library")"
            fi
            arguments=(-bail :memory: ".read $sources/rows.sql") ;;
        xz)
            installed xz /usr/bin/xz || return
            arguments=(-5 -T1 -c /usr/bin/perl) ;;
        gawk)
            installed gawk /usr/bin/gawk || return
            arguments=(-v count=$([[ $quick ]] && echo 500000 || echo 1500000) -f "$sources/words.awk") ;;
        python)
            installed python /usr/bin/python3.11 || return
            arguments=("$sources/words.py" $([[ $quick ]] && echo 500000 || echo 1500000)) ;;
        perl)
            installed perl /usr/bin/perl || return
            arguments=("$sources/words.pl" $([[ $quick ]] && echo 500000 || echo 1500000)) ;;
        spins)
            from_source spins "$top/tests/programs/spins.c"
            arguments=() ;;
        *) note "$(basename "$0"): no workload is called $name"; exit 2 ;;
    esac
    instrument "$work/$name/native/program" -o "$work/$name/instrumented/program"
    [[ $narrow ]] && return # whose bodies are not copied, so that nothing in them is counted
    cover "$work/$name/native/program" -o "$work/$name/covered/program"
    count "$work/$name/native/program" -o "$work/$name/counted/program"
    count_without_calls "$work/$name/native/program" -o "$work/$name/uncalled/program"
}
