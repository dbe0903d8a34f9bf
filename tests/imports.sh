#!/bin/bash
# --instrument-imports: every call to a function of another image is recorded, once, whether it
# goes through a PLT stub, bound lazily or at load time, or straight through the GOT (-fno-plt).
# needs: clang
# seconds: 20
. "$(dirname "$0")/lib.sh"
SERVICE_OPTIONS=--timing=adaptive # a time for each function that is called

export INSTRUMENT_OPTIONS=--instrument-imports

# time_in FUNCTION: the most nanoseconds that a thread spent in it itself.
time_in()
{
    awk -v wanted="$1" '
        /^fn=/ {
            id = name = substr($0, 4)
            sub(/\).*/, ")", id)
            if (length(name) > length(id))
                names[id] = substr(name, length(id) + 2)
            mine = names[id] == wanted
        }
        /^part:/ { delete names }
        /^cfn=/ {
            id = name = substr($0, 5)
            sub(/\).*/, ")", id)
            if (length(name) > length(id))
                names[id] = substr(name, length(id) + 2)
        }
        /^calls=/ { getline; next }
        /^[0-9+*-]/ && mine && $2 > most { most = $2 }
        END { print most + 0 }
    ' callgrind
}

# waited FUNCTION: a thread did so. The program has it wait for 0.2 seconds, less what the thread came
# late by on a busy machine.
waited()
{
    [[ $(time_in "$1") -ge 20000000 ]] || fail "$kind: only $(time_in "$1") ns in $1"
}

calls_are()
{
    equal "$kind: calls of $1" "$(calls_of "$1")" "$2"
}

compare_counts()
{
    calls_are qsort@plt 3
    calls_are compare "$(sed -nE 's/^compared ([0-9]+) times/\1/p' native.stdout)"
    calls_are tail_malloc 100
    calls_are malloc@plt 100
    calls_are free@plt 100
    calls_are write@plt 8
    calls_are sum_of@plt 1
    calls_are large_make@plt 9
    calls_are nest 51
    calls_are call_back@plt $((50 + 5 * 6 + 5))
    calls_are jump_out $((5 * 7))
    calls_are longjmp@plt 5
    calls_are read@plt 1
    calls_are pthread_mutex_lock@plt 2
    calls_are nanosleep@plt 1
    waited pthread_mutex_lock@plt
    waited read@plt
    waited nanosleep@plt
}

${CC:-gcc} -O2 -shared -fPIC -Wl,-soname,libimported.so "$TESTS/programs/imported.c" -o native/libimported.so
cp native/libimported.so instrumented
for CC in gcc clang; do
    for options in -Wl,-z,lazy -Wl,-z,now "-no-pie -Wl,-z,lazy" "-no-pie -Wl,-z,now" \
        "-fcf-protection -Wl,-z,lazy" "-fcf-protection -Wl,-z,now" -fno-plt "-no-pie -fno-plt"; do
        kind="$CC $options"
        # shellcheck disable=SC2086
        build imports imports.c $options native/libimported.so -Wl,-rpath,"\$ORIGIN"
        instrumented imports
        recorded imports
        compare_counts
        equal "$kind: dlsym" "$(state_of dlsym@plt imports)" "skipped return-address"
        equal "$kind: setjmp" "$(state_of _setjmp@plt imports)" "skipped returns-twice"
        equal "$kind: write" "$(state_of write@plt imports)" "hooked import"
    done
done

# Call sites are put back with the rest, and filters hold for imports.
INSTRUMENT_OPTIONS= instrument --verify instrumented/imports >/dev/null
INSTRUMENT_OPTIONS= instrument --undo instrumented/imports -o undone
cmp undone native/imports || fail "--undo: the original differs"
instrumented imports --exclude=write
equal "write, excluded" "$(state_of write@plt imports)" "skipped excluded"
recorded imports
kind="filtered"
calls_are write@plt 0
calls_are malloc@plt 100

# What has no symbols has imports all the same.
strip native/imports
instrumented imports
recorded imports
kind="stripped"
calls_are malloc@plt 100

# Without the option imports are left alone.
INSTRUMENT_OPTIONS=
instrumented imports
recorded imports
calls_are malloc@plt 0
equal "malloc without the option" "$(state_of malloc@plt imports)" ""
