#!/bin/bash
# Unit tests of what calls Windows, X_test.c beside its X.c as elsewhere: of the agent and of the service.
# needs: wine wine64 gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

windows_tools
wine_begins
count=0
for program in "$WINDOWS"/*/*_test.exe; do
    name=$(basename "$program" .exe)
    LIMIT=60 plain_lines wine "$program" >"$name.said" 2>"$name.errors" || { cat "$name".* >&2; fail "$name"; }
    equal "$name" "$(tail -n 1 "$name.said")" passed
    count=$((count + 1))
done
((count >= 5)) || fail "$count programs of unit tests"
