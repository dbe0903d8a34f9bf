# The tools that benchmarks measure. To be sourced by bash.

# release_build TOP: the folder BUILD names or, brought up to date, TOP/build/release.
release_build()
{
    local top=$1 folder=$1/build/release log
    if [[ ${BUILD:-} ]]; then
        (cd "$BUILD" && pwd)
        return
    fi
    log=$(mktemp)
    {
        [[ -e $folder/build.ninja ]] || meson setup "$folder" "$top" --buildtype=release -Dwerror=false
        meson compile -C "$folder"
    } >"$log" 2>&1 || { tail -n 20 "$log" >&2; rm -f "$log"; return 1; }
    rm -f "$log"
    echo "$folder"
}
