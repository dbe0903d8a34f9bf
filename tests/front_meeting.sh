#!/bin/bash
# Programs and the service of a recording find each other where nobody else can be in the way: somebody
# has taken /tmp/umbra-UID, XDG_RUNTIME_DIR is another's, or /tmp is shown as nobody's.
# needs: gcc util-linux
. "$(dirname "$0")/lib.sh"

umbra=$BUILD/front/umbra
user=$((20000 + $$ % 20000))
as_user=()
((EUID != 0)) || as_user=(setpriv --reuid=$user --regid=$user --clear-groups)
((EUID == 0)) || user=$EUID
unset XDG_RUNTIME_DIR UMBRA_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 7; }\n' >hello.c
gcc -g hello.c -o hello
mkdir -m 700 home
chmod 711 .
((EUID != 0)) || chown $user home
export HOME=$work/home

cleanup()
{
    local status=$?
    rm -rf "${taken[@]}"
    (exit "$status")
    end_of_script
}
taken=()
trap cleanup EXIT

# meets WHAT [COMMAND…]: a recording by the user, made by COMMAND, runs hello and has its calls
meets()
{
    local what=$1 status=0
    shift
    rm -rf home/x.data
    (cd home && exec timeout -k 5 60 "${as_user[@]}" "$@" "$umbra" record -o x.data -- ../hello) \
        >out 2>said </dev/null || status=$?
    equal "$what: status" "$status" 7
    equal "$what: output" "$(<out)" hello
    contains said "^umbra: [0-9]+ process(es)? recorded in x\.data"
    has_traces home/x.data hello
}

# has_traces FOLDER PROGRAM
has_traces()
{
    local found
    found=$(find "$1/traces" -name "$2-*.bin")
    [[ $found ]] || fail "no trace of $2 in $1"
}

# Nobody could make the user's folder if it were there before.
ours=/tmp/umbra-$user
if ((EUID == 0)) && [[ ! -e $ours && ! -L $ours ]]; then
    taken+=("$ours")
    mkdir -m 777 "$ours"
    meets "a folder of others"
    equal "what was left in it" "$(ls -A "$ours")" ""
    rmdir "$ours"
    ln -s "$work/home" "$ours"
    chown -h $((user + 1)) "$ours"
    meets "a link of others"
    [[ ! -e home/umbra ]] || fail "others' link was followed"
    contains said "what the command starts with an environment that has no UMBRA_INSTANCE_ID is not recorded"
    rm "$ours"
    meets "XDG_RUNTIME_DIR of root" env XDG_RUNTIME_DIR="$work/run"
    rm -r "$ours" # the links of services: another's XDG_RUNTIME_DIR does not hinder them
    touch "$ours"

    # who looks on while it runs finds the service, too
    mkfifo home/gate
    printf '#include <stdio.h>\nint main(void) { getchar(); return 0; }\n' >waits.c
    gcc -g waits.c -o waits
    (cd home && exec "${as_user[@]}" "$umbra" record -o y.data -- ../waits <gate >../out 2>../said) &
    recording=$!
    started+=("$recording")
    exec 5>home/gate
    for ((try = 0; ; try++)); do
        (cd home && "${as_user[@]}" "$umbra" top --once y.data >../top 2>../problems) && break
        ((try < 100)) || fail "umbra top: $(<problems)"
        sleep 0.1
    done
    contains top getchar
    exec 5>&-
    wait "$recording"
    rm "$ours"
else
    echo "skipped: folders of others, for want of rights"
fi

# Root in an environment of a user, who can lead the path elsewhere at any time: nothing is made where it
# leads to.
if ((EUID == 0)); then
    mkdir -m 755 roots
    ln -s "$work/roots" home/link
    chown -h $user home/link
    mkdir -m 755 home/theirs home/theirs/roots
    chown $user home/theirs
    for variable in XDG_RUNTIME_DIR UMBRA_RUNTIME_DIR; do
        for place in link theirs/roots; do
            rm -rf root.data
            env $variable="$work/home/$place" "$umbra" record -o root.data -- ./hello >out 2>said || true
            equal "$variable=$place: output" "$(<out)" hello
            has_traces root.data hello
            equal "$variable=$place: what was made" "$(ls -A roots home/theirs/roots)" \
                "$(printf 'home/theirs/roots:\n\nroots:')"
        done
    done
fi

"${as_user[@]}" unshare -Ur true 2>/dev/null || { echo "skipped: no user namespaces here"; exit 0; }
meets "root of a user namespace" unshare -Ur
[[ ! -e home/x.data/umbra ]] || fail "the meeting place was left"
taken+=("$ours")
meets "a recording of a recording" "$umbra" record -o outer.data --
has_traces home/outer.data umbra

# a path that has no room for a socket's
deep=$(printf 'deep/%.0s' {1..20})
"${as_user[@]}" mkdir -p "home/$deep"
status=0
(cd "home/$deep" && exec "${as_user[@]}" unshare -Ur "$umbra" record -o x.data -- "$work/hello") \
    >out 2>said || status=$?
equal "a long path: status" "$status" 7
has_traces "home/$deep/x.data" hello
place=$(sed -n 's/^meeting	//p' "home/$deep/x.data/recording")
[[ $place == /tmp/umbra-?????? && ! -e $place ]] || fail "a long path: left $place"
