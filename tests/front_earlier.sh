#!/bin/bash
# An earlier recording is safe from a later one that cannot begin: for an option's value or a filter
# that is not there. What cannot begin leaves nothing.
# needs: perl util-linux
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
umbra=$BUILD/front/umbra

# record STATUS OPTION…: the output is in said
record()
{
    local wanted=$1 status=0
    shift
    "$umbra" record "$@" -- perl -e 'exit 3' >said 2>&1 || status=$?
    equal "status of record $*" "$status" "$wanted"
}

# The times are the same to the second, so a line of ours tells them apart.
record 3
echo 'mark	first' >>umbra.data/recording
record 3
echo 'mark	second' >>umbra.data/recording
record 2 --node-limit=many
contains said '^umbra record: --node-limit=many: expected a number'
contains said '^umbra: nothing was run, and no recording was made$'
record 2 --filter=none.txt
equal 'no filter' "$(<said)" 'umbra: --filter=none.txt: cannot be read: No such file or directory'
record 2 -o ''
equal 'no name' "$(<said)" 'umbra: --output=: expected the name of a folder, found none'
record 2 -o other.data --timing=guess
equal 'recordings' "$(echo *.data*)" 'umbra.data umbra.data.old'
contains umbra.data/recording '^mark.second$'
contains umbra.data.old/recording '^mark.first$'
record 3
contains umbra.data.old/recording '^mark.second$'
equal 'what is in a recording' "$(ls umbra.data | tr '\n' ' ')" 'files images recording traces '

# Two at once do not share a name; one that was killed does not run for ever.
mkfifo wait
"$umbra" record --quiet -- sh -c 'read line <wait' &
recorder=$!
started+=("$recorder")
for ((try = 0; try < 300; try++)); do
    umbra ls >said
    grep -qE '^umbra\.data .* running +sh -c' said && break
    sleep 0.05
done
record 1
contains said '^umbra: umbra\.data: is being recorded by another umbra record'
umbra ls >said
contains said '^umbra\.data .* running +sh -c'
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null || true
echo >wait
for ((try = 0; try < 300; try++)); do
    umbra ls >said
    grep -qE '^umbra\.data .* killed +sh -c' said && break
    sleep 0.05
done
contains said '^umbra\.data .* killed +sh -c'
record 3
