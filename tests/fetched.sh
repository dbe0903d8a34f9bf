# Programs of Debian's for i386, without a trace in this system's own packages. To be sourced by bash, behind lib.sh.

# fetched FOLDER PACKAGE…: unpacked there. False, with a line that says so: they cannot be had.
fetched()
{
    local folder=$1 apt=$work/apt package
    mkdir -p "$folder" "$apt"/{lists,archives}/partial debs
    touch "$apt/status"
    apt=(apt-get -qq -o APT::Architecture=i386 -o APT::Architectures=i386 -o Dir::State="$apt" -o Dir::State::status="$apt/status"
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt" -o APT::Sandbox::User=root)
    timeout 300 "${apt[@]}" update >apt.log 2>&1 || true # what is missing is missed below
    if ! (cd debs && timeout 600 "${apt[@]}" download "${@:2}" >>../apt.log 2>&1); then
        tail -n 2 apt.log
        echo "skipped: Debian's packages for i386, which cannot be had here"
        return 1
    fi
    for package in debs/*.deb; do
        dpkg -x "$package" "$folder"
    done
}
