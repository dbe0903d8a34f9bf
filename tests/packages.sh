# Installing Debian packages, for tests/run and samples/run. To be sourced by bash.

# What the tools are built from and with.
build_packages=(
    gcc gcc-multilib libc6-dev meson ninja-build cmake pkg-config
    libzydis-dev liblief-dev libdwarf-dev libelf-dev libiberty-dev libxxhash-dev libcmocka-dev uthash-dev
    libgcrypt20-dev libpopt-dev libzstd-dev libdebuginfod-dev libdw-dev
    libprotobuf-c-dev protobuf-c-compiler zlib1g-dev
)

apt_install()
{
    local as_root=(env)
    ((EUID == 0)) || as_root=(sudo env)
    "${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# Prints those of the packages that are not installed. A rustc or npm that does not come from one
# will do.
missing_packages()
{
    local package status
    for package; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=unknown
        [[ $status == installed ]] && continue
        [[ $package == rustc || $package == npm ]] && command -v "$package" >/dev/null && continue
        echo "$package"
    done
}

# Installs those of the packages that are missing. The package lists are fetched only when the
# ones at hand do not do: on a fresh system there are none.
install_missing()
{
    local missing log
    mapfile -t missing < <(missing_packages "$@" | sort -u)
    ((${#missing[@]} > 0)) || return 0
    echo "installing ${missing[*]}"
    log=$(mktemp)
    if ! apt_install install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
        if ! { apt_install update && apt_install install -y --no-install-recommends \
            "${missing[@]}"; } >"$log" 2>&1; then
            tail -n 20 "$log" >&2
            rm -f "$log"
            return 1
        fi
    fi
    rm -f "$log"
}
