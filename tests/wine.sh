# Windows programs under Wine. To be sourced by bash behind lib.sh, by scripts that say
#
#     # needs: wine wine64 gcc-mingw-w64-x86-64
#
# Gives BUILD_WINDOWS, a folder with what is built for Windows, and a Wine of the script's own: no
# display, nothing of the user's, gone at the script's end. Its first start takes some ten seconds.

BUILD_WINDOWS=${BUILD_WINDOWS:-$TESTS/../build/windows}
export WINEPREFIX=$work/wine WINEDEBUG=-all
unset DISPLAY WAYLAND_DISPLAY
trap end_of_wine EXIT

end_of_wine()
{
    local status=$?
    wineserver -k 2>/dev/null || true # of this WINEPREFIX
    wineserver -w 2>/dev/null || true
    (exit "$status")
    end_of_script
}

build_for_windows()
{
    [[ -e $BUILD_WINDOWS/build.ninja ]] ||
        meson setup "$BUILD_WINDOWS" "$TESTS/.." --cross-file "$TESTS/../cross/mingw-w64.ini"
    meson compile -C "$BUILD_WINDOWS"
}

# What these return says nothing; that a program runs does.
start_wine()
{
    local status=0
    mkdir "$WINEPREFIX"
    wineboot -i || true
    wineserver -w || true
    winecfg /v win10 || true
    wineserver -p60 || true
    wine cmd /c 'exit 7' || status=$?
    [[ $status == 7 ]]
}

build_for_windows >build_for_windows.log 2>&1 ||
    { tail -n 20 build_for_windows.log >&2; fail "cannot build for Windows"; }
BUILD_WINDOWS=$(cd "$BUILD_WINDOWS" && pwd)
start_wine >start_wine.log 2>&1 || { tail -n 20 start_wine.log >&2; fail "Wine does not start"; }

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
