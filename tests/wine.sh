# Windows programs under Wine. To be sourced by bash, behind lib.sh. The script needs the packages
# wine wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 and says so in its `# needs:` line.
#
#     windows/       where meson has built what runs on Windows: $WINDOWS
#     native/ instrumented/   as in lib.sh; hooks.dll lies beside what is instrumented
#
# A script has a Wine of its own, which ends with it.

export WINEPREFIX=$work/wine WINEDEBUG=-all
unset DISPLAY
TOP=$(dirname "$TESTS")
WINDOWS=$BUILD/windows

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

# The tools for Windows, built once for a build folder of those for Linux.
windows_tools()
{
    (
        flock 9
        [[ -e $WINDOWS/build.ninja ]] ||
            meson setup "$WINDOWS" "$TOP" --cross-file "$TOP/cross/mingw-w64.ini"
        meson compile -C "$WINDOWS"
    ) 9>"$BUILD/windows.lock" >windows.log 2>&1 || { tail -n 20 windows.log >&2; fail "cannot build for Windows"; }
}

wine_begins()
{
    mkdir -m 0700 "$WINEPREFIX"
    # A server that is still there would not take the -p, and say so with status 2.
    { wineboot -i; wineserver -w; winecfg /v win10; wineserver -w; } >wine.log 2>&1 || true
    wineserver -p600
    wine cmd /c ver >wine.version 2>>wine.log || true
    contains wine.version 'Windows 10'
}

# As lib.sh has it, for a Windows program as the command.
run()
{
    local folder=$1 status=0
    shift
    [[ $1 != *.exe ]] || set -- wine "$@"
    (cd "$folder" && exec timeout -k 5 "${LIMIT:-120}" "$@") >"$folder.stdout" \
        2>"$folder.stderr" </dev/null || status=$?
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
