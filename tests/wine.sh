# Windows programs under Wine. To be sourced by bash, behind lib.sh. The script needs the packages
# wine wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 and says so in its `# needs:` line.
#
#     windows/       where meson has built what runs on Windows: $WINDOWS
#     windows32/     the same for 32 bits: $WINDOWS32, which needs gcc-mingw-w64-i686, and wine32 to run
#     native/ instrumented/   as in lib.sh; hooks.dll lies beside what is instrumented
#
# A script has a Wine of its own, which ends with it.

export WINEPREFIX=$work/wine WINEDEBUG=-all
unset DISPLAY
TOP=$(dirname "$TESTS")
WINDOWS=$BUILD/windows WINDOWS32=$BUILD/windows32

# Keeps the script's status, which end_of_script takes for its own.
wine_ends()
{
    local status=$?
    set +e
    wineserver -k 2>/dev/null
    wineserver -w 2>/dev/null
    (exit "$status")
    end_of_script
}
trap wine_ends EXIT

# cross_built FOLDER CROSS_FILE: once for a build folder of the tools for Linux
cross_built()
{
    (
        flock 9
        [[ -e $1/build.ninja ]] || meson setup "$1" "$TOP" --cross-file "$TOP/cross/$2"
        meson compile -C "$1"
    ) 9>"$1.lock" >windows.log 2>&1 || { tail -n 20 windows.log >&2; fail "cannot build for Windows"; }
}

# The tools for Windows.
windows_tools()
{
    cross_built "$WINDOWS" mingw-w64.ini
}

# Those of 32 bits. False, with a line that says so: they cannot be built here.
windows32_tools()
{
    if ! type -P i686-w64-mingw32-gcc >compiler.path; then
        echo 'skipped: Windows programs of 32 bits: gcc-mingw-w64-i686 is not installed'
        return 1
    fi
    cross_built "$WINDOWS32" mingw-w64-i686.ini
}

# From here on, what is called `wine` is that of 32 bits: Debian's wine32, or the command WINE32, whose server is the
# command WINESERVER, if that is set. False, with a line that says so: there is none.
wine32()
{
    local name
    if [[ ! ${WINE32:-} && ! -x /usr/lib/wine/wine ]]; then
        echo 'skipped: Windows programs of 32 bits: wine32 is not installed'
        return 1
    fi
    export WINEARCH=win32 WINEPREFIX=$work/wine32
    [[ ${WINE32:-} ]] || return 0
    mkdir -p wine32.bin
    for name in '' boot cfg; do
        printf '#!/bin/sh\nexec %s %s "$@"\n' "$WINE32" "${name:+wine$name}" >"wine32.bin/wine$name"
    done
    [[ ! ${WINESERVER:-} ]] || ln -sf "$WINESERVER" wine32.bin/wineserver
    chmod 0755 wine32.bin/*
    PATH=$work/wine32.bin:$PATH
}

# Whether that is what programs see; the answer is in wine.version.
is_windows_10()
{
    local try
    for try in 1 2 3; do # now and then Wine does not find what it is to begin
        wine cmd /c ver >wine.version 2>>wine.log || true
        ! grep -q '^Microsoft Windows' wine.version || break
    done
    grep -q 'Windows 10' wine.version
}

# A new Wine in $WINEPREFIX, and nobody at work in it. What is set while a server is about to end may be lost.
make_prefix()
{
    local try
    mkdir -m 0700 "$WINEPREFIX"
    { wineboot -i; wineserver -w; } >>wine.log 2>&1 || true
    for try in 1 2 3; do
        { winecfg /v win10; wineserver -w; } >>wine.log 2>&1 || true
        if is_windows_10; then
            wineserver -w || true
            return
        fi
        echo "winecfg, try $try: no Windows 10: $(tr -d '\r\n' <wine.version)"
        wineserver -w || true
    done
    cat wine.log >&2
    fail "winecfg does not make it Windows 10"
}

# copy_prefix FROM TO: TO is there only when it is whole. Wine's own files are the same, by hard links where they can be:
# no program writes to them; registries are written in place, and they and the rest are copies.
copy_prefix()
{
    rm -rf "$2.new"
    mkdir -m 0700 "$2.new"
    tar -C "$1" -c --exclude=./drive_c/windows . | tar -C "$2.new" -x
    if ! cp -al "$1/drive_c/windows" "$2.new/drive_c" 2>/dev/null; then
        rm -rf "$2.new/drive_c/windows"
        cp -a --reflink=auto "$1/drive_c/windows" "$2.new/drive_c"
    fi
    mv -T "$2.new" "$2"
}

# A build folder has a prefix as it is at first, for all scripts; the first of them makes it.
wine_begins()
{
    local made
    made=$BUILD/wine${WINEARCH:+-$WINEARCH}-$(wine --version | tr -c '[:alnum:]\n' _)-$EUID
    (
        flock 9
        if [[ -d $made ]]; then
            copy_prefix "$made" "$WINEPREFIX"
        else
            make_prefix 9>&-
            copy_prefix "$WINEPREFIX" "$made"
        fi
    ) 9>"$BUILD/wine.lock"
    # A server that is still there would not take the -p, and say so with status 2.
    wineserver -p600
    is_windows_10 || fail "Wine says it is $(<wine.version)"
}

# Whether Wine ended before the program began: with status 1, and without a word but the service's, if that ran it.
never_began()
{
    local folder=$1 status=$2 expected=0
    [[ $3 == wine ]] || expected=1
    ((status == 1)) && [[ ! -s $folder.stdout ]] && (($(wc -l <"$folder.stderr") == expected)) &&
        (($(grep -c 'did not come to be recorded' "$folder.stderr") == expected))
}

# As lib.sh has it, for a Windows program as the command. On a busy machine, Wine may fail to start one.
run()
{
    local folder=$1 status try
    shift
    [[ $1 != *.exe ]] || set -- wine "$@"
    for try in 1 2 3; do
        status=0
        (cd "$folder" && exec timeout -k 5 "${LIMIT:-120}" "$@") >"$folder.stdout" \
            2>"$folder.stderr" </dev/null || status=$?
        never_began "$folder" "$status" "$1" || break
        echo "try $try: Wine ended before the program began: $*"
    done
    echo "$status" >"$folder.status"
}

# windows_path FILE: as a Windows program spells it
windows_path()
{
    local path
    path=$(realpath -m "$1")
    echo "Z:${path//\//\\}"
}

# plain_lines COMMAND…: runs it, with lines that end as they do here
plain_lines()
{
    "$@" | tr -d '\r'
}
