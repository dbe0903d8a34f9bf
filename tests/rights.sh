#!/bin/bash
# A program that is set-uid, set-gid or has file capabilities lends its rights to whoever runs it. No
# file that instrument writes lends any, whoever runs it and whether it was instrumented or copied,
# and for each that did lends some it says so.
# needs: libcap2-bin
. "$(dirname "$0")/lib.sh"

build fib "$TESTS/../samples/fib.c"

# lends FILE: how it lends rights; empty if it does not
lends()
{
    local mode
    mode=$(stat -c %04a "$1")
    [[ $mode == 0* ]] || echo "mode $mode"
    [[ $EUID != 0 ]] || getcap "$1"
}

# dropped FILE WHAT: FILE.out lends nothing, which one line in error says.
dropped()
{
    equal "what $1.out lends" "$(lends "$1.out")" ""
    equal "permissions of $1.out" "$(stat -c %a "$1.out")" 755
    equal "lines about $1" "$(grep -c . error)" 1
    contains error "^instrument: $1: $2 dropped: .* rights of whoever starts it"
}

# lending NAME MODE [CAPABILITIES]: a copy of fib
lending()
{
    cp native/fib "$1"
    chmod "$2" "$1"
    [[ ! ${3:-} ]] || setcap "$3" "$1"
}

lending user 4755
lending group 2755
lending both 6755
for name in user group both; do
    instrument $name -o $name.out 2>error
    case $name in
        user) dropped user 'set-uid bit' ;;
        group) dropped group 'set-gid bit' ;;
        both) dropped both 'set-uid and set-gid bits' ;;
    esac
done
instrument native/fib -o plain 2>error
equal "what is said of a program that lends nothing" "$(<error)" ""
instrument --quiet user -o quiet 2>error
equal "what is said with --quiet" "$(<error)" ""
equal "what quiet lends" "$(lends quiet)" ""
chmod 6755 both.out
mv both.out undo
instrument --undo undo -o undo.out 2>error
dropped undo 'set-uid and set-gid bits'
cmp undo.out native/fib

# --- a tree; of folders the bits mean something else
mkdir -p tree/drop tree/team
lending tree/user 4755
ln tree/user tree/user.too
ln -s user tree/link
echo '#!/bin/sh' >tree/script
chmod 6755 tree/script
chmod 2775 tree/team
chmod 1777 tree/drop
instrument tree -o new 2>error
equal "lines about the tree" "$(wc -l <error)" 2
contains error '^instrument: tree/user: set-uid bit dropped'
contains error '^instrument: tree/script: set-uid and set-gid bits dropped'
for name in user user.too script link; do
    equal "what new/$name lends" "$(lends "$(realpath "new/$name")")" ""
done
cmp tree/script new/script
equal "folders" "$(stat -c %a new/team new/drop | xargs)" "2775 1777"

((EUID == 0)) || { echo "skipped: file capabilities, which only root can give"; exit 0; }
if ! lending capable 755 cap_net_raw+ep 2>/dev/null; then
    echo "skipped: file capabilities, which this file system does not have"
    exit 0
fi
instrument capable -o capable.out 2>error
dropped capable 'file capabilities'
lending all 4755 cap_net_raw,cap_sys_admin+ep
instrument all -o all.out 2>error
dropped all 'set-uid bit and file capabilities'
# Root keeps owners: a copy would be a program of another user's that anybody runs as that user.
mkdir theirs
lending theirs/program 6755
echo data >theirs/data
chown -R 65534:65534 theirs
chmod 6755 theirs/program theirs/data
setcap cap_net_raw+ep theirs/data
instrument theirs -o ours 2>error
equal "owner of ours" "$(stat -c %u:%g ours)" 65534:65534
for name in program data; do
    equal "what ours/$name lends" "$(lends ours/$name)" ""
    equal "owner of ours/$name" "$(stat -c %u:%g ours/$name)" 65534:65534
done
contains error '^instrument: theirs/data: set-uid and set-gid bits and file capabilities dropped'
