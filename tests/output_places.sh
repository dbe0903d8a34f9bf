#!/bin/bash
# Where instrument does not write: over anything that is no file, over the tree it reads, or into it,
# by whatever path either is reached. Each is refused with a line that says what was found there.
. "$(dirname "$0")/lib.sh"

build fib "$TESTS/../samples/fib.c"
instrumented fib

# All that is here, with what kind it is and when it was changed.
everything()
{
    find . ! -name said ! -name error ! -path . -printf '%P %y %i %s %l\n' | sort
}

# refused PATTERN OPTION…: status 1, one line that matches, and nothing is changed.
refused()
{
    local pattern=$1 before status=0
    shift
    before=$(everything)
    instrument "$@" >said 2>error || status=$?
    equal "$*: status" "$status" 1
    equal "$*: lines of error" "$(wc -l <error)" 1
    contains error "$pattern"
    diff <(echo "$before") <(everything) || fail "$*: something was changed"
}

# --- nodes
mkfifo pipe
mkdir folder
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
ln -s native/fib link
ln -s /dev/null link_to_device
ln -s nowhere dangling
nodes=(pipe:'a pipe' folder:'a directory' socket:'a socket' link:'a symbolic link'
    link_to_device:'a symbolic link' dangling:'a symbolic link' folder/:'a directory')
if ((EUID == 0)) && mknod device c 1 3 2>/dev/null; then
    nodes+=(device:'a device')
else
    echo "skipped: a device, which only root can make"
fi
for node in "${nodes[@]}"; do
    for overwrite in "" --overwrite; do
        # shellcheck disable=SC2086
        refused "${node%:*}: expected a file to write, found ${node#*:};" \
            native/fib -o "${node%:*}" $overwrite
        # shellcheck disable=SC2086
        refused "${node%:*}: expected a file to write, found ${node#*:};" \
            --undo instrumented/fib -o "${node%:*}" $overwrite
    done
done
refused "new/: expected the name of a file to write, found a directory's" native/fib -o new/
refused "expected a name to write to, found '\.\.'" native/fib -o folder/..
refused 'libhooks.so: expected another name than that of the agent' native/fib --bundle \
    -o folder/libhooks.so --overwrite
ln -s fib native/same
for overwrite in "" --overwrite; do
    for input in native/fib link native/same ./native/../native/fib; do
        # shellcheck disable=SC2086
        refused 'native/fib: expected another file than the original' "$input" -o native/fib $overwrite
    done
done
for node in pipe socket link; do
    refused "$node: expected a new directory, found a " folder -o $node --overwrite
done

# --- trees
mkdir -p outer/tree/below
cp native/fib outer/tree
cp native/fib outer/keep
ln -s outer/tree short
ln -s tree outer/inner_link
ln -s outer outer_link
itself='expected -o outside this directory, found the directory itself'
within='expected -o outside this directory, found .* within it'
around='expected -o outside this directory, found .*, which holds it'
for overwrite in "" --overwrite; do
    for input in outer/tree outer/tree/ outer/./tree short short/ outer_link/inner_link "$PWD/short"; do
        # shellcheck disable=SC2086
        for output in outer/tree outer/tree/ outer_link/tree "$PWD/outer//tree"; do
            refused "$itself" "$input" -o "$output" $overwrite
        done
        # shellcheck disable=SC2086
        for output in outer/tree/new outer/tree/below short/new/ outer_link/tree/below/../new; do
            refused "$within" "$input" -o "$output" $overwrite
        done
    done
done
for input in outer/tree short outer_link/inner_link/; do
    for output in outer outer/ "$PWD/outer" short/../../outer; do
        refused "$around" "$input" -o "$output" --overwrite
    done
done
refused 'short: expected a new directory, found a symbolic link' outer/tree -o short --overwrite
refused "expected a name to write to, found '\.'" . -o . --overwrite
refused "expected a name to write to" outer -o / --overwrite

# A directory by the name of a link to it, with and without a slash.
for input in short short/ outer_link/inner_link; do
    instrument "$input" -o new --overwrite >said
    contains said '^new: 1 files: 1 instrumented'
    equal "what is in new" "$(cd new && find . | sort | xargs)" ". ./below ./fib"
    instrument --verify new/fib >/dev/null
done

# A standard stream that is closed is not what is written.
instrument native/fib -o closed <&- >&- 2>&-
instrument --verify closed >/dev/null
cmp instrumented/fib closed

# --- mounts, in a namespace of their own
if ! unshare -m true 2>/dev/null; then
    echo "skipped: bind mounts, which only root can make"
    exit 0
fi
bound()
{
    unshare -m bash -c '
        mount --bind "$1" "$2" && shift 2 && "$@"' bound "$1" "$2" \
        "$BUILD/rewriter/instrument" --agent="$AGENT" "${@:3}"
}
# refused_bound FROM TO PATTERN OPTION…
refused_bound()
{
    local before status=0 pattern=$3
    before=$(everything)
    bound "$1" "$2" "${@:4}" >said 2>error || status=$?
    equal "${*:4}: status" "$status" 1
    contains error "$pattern"
    diff <(echo "$before") <(everything) || fail "${*:4}: something was changed"
}
mkdir bind
refused_bound outer/tree bind "$itself" outer/tree -o bind --overwrite
refused_bound outer/tree bind "$within" outer/tree -o bind/new
refused_bound outer/tree bind "$itself" bind -o outer/tree --overwrite
refused_bound outer/tree bind "$around" bind -o outer --overwrite
refused_bound instrumented outer/tree/below 'outer: expected a directory to replace, found .*mounts' \
    native -o outer --overwrite
refused_bound outer/tree outer/tree/below 'below: expected a tree, found a directory that contains' \
    outer/tree -o other
