#!/bin/bash
# Debian's i386 programs, stripped, with the libraries that they work in, instrumented: output and exit status are
# identical to the originals', every thread balances, and of the functions that can be hooked nearly all are.
# needs: g++-multilib git
# seconds: 200
. "$(dirname "$0")/../lib.sh"
. "$TESTS/fetched.sh"

packages=(lua5.4 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib git xz-utils sqlite3 bash libstdc++6 libgcc-s1
    libc6 libreadline8 libtinfo6 zlib1g libexpat1 libsqlite3-0 liblzma5 libpcre2-8-0 libssl3 libbz2-1.0 libffi8 libuuid1)

fetched root "${packages[@]}" || exit 0
libraries=$work/root/lib/i386-linux-gnu:$work/root/usr/lib/i386-linux-gnu
if ! LD_LIBRARY_PATH=$libraries root/usr/bin/lua5.4 -v; then
    echo 'skipped: programs of 32 bits, which this kernel does not execute'
    exit 0
fi

# hooked FILE: of those that can be, 99.5% at least
hooked()
{
    instrument --list --summary "$1" | awk -F '\t' -v file="$(basename "$1")" '
        $1 == "hooked" && $2 == "" { hooked = $3 } $1 == "no-safe-patch" { rest = $3 }
        END { share = 100 * hooked / (hooked + rest); printf "%s: %d of %d hooked, %.2f%%\n", file, hooked, hooked + rest, share
              exit share < 99.5 }' || fail "$1: too few are hooked"
}

for library in root/lib/i386-linux-gnu/{libc.so.6,liblzma.so.5} root/usr/lib/i386-linux-gnu/{libstdc++.so.6,libcrypto.so.3,libsqlite3.so.0}; do
    cp -L "$library" native/
    hooked "native/${library##*/}"
    instrumented "${library##*/}"
done

# debian PATH ARGUMENT…
debian()
{
    local name=${1##*/}
    cp "root/$1" "native/$name"
    hooked "native/$name"
    instrumented "$name"
    shift
    export LD_LIBRARY_PATH=.:$libraries
    recorded "$name" "$@"
    unset LD_LIBRARY_PATH
    echo "$name: $(grep -c . instrumented.stdout) lines of output, $(summed entries) calls recorded"
}

debian usr/bin/lua5.4 "$TESTS/../samples/words.lua" 100000
cp "$TESTS/../bench/workloads/rows.sql" native/
cp "$TESTS/../bench/workloads/rows.sql" instrumented/
debian usr/bin/sqlite3 :memory: '.read rows.sql'
cp "$work/root/usr/bin/python3.11" "$work/blob"
debian usr/bin/xz -c -T2 "$work/blob"
export PYTHONHOME=$work/root/usr PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
debian usr/bin/python3.11 -c '
import json, re
print(len(json.dumps({str(i): [i, i * 1.5, None] for i in range(20000)})), len(re.findall("a+b", "aab" * 10000)))
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
print(f(20))
import hashlib
print(hashlib.sha512(b"umbra" * 100000).hexdigest(), hashlib.new("sha3_256", b"umbra").hexdigest())
try: [].pop()
except IndexError as error: print(error)'
unset PYTHONHOME
# shellcheck disable=SC2016
debian bin/bash -c 'f() { [ "$1" -gt 0 ] && f $(($1 - 1)); }; f 50; for i in {1..3000}; do echo $((i * i)); done | (read -r x; echo "$x")'
g++ -m32 -O2 "$TESTS/../samples/exceptions.cpp" -o native/exceptions -pthread
instrumented exceptions
LD_LIBRARY_PATH=.:$libraries recorded exceptions
echo "exceptions: $(summed entries) calls recorded, $(summed unwound) unwound"
git init -q repository
git -C repository -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m first
debian usr/bin/git -C "$work/repository" log --stat
