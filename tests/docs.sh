#!/bin/bash
# The pages of docs/ and the README name files that exist, and their links lead somewhere.
. "$(dirname "$0")/lib.sh"

cd "$TESTS/.."
problems=0

problem()
{
    echo "$page: $*" >&2
    problems=$((problems + 1))
}

# anchors FILE: of its headings, as they stand in links
anchors()
{
    sed -n 's/^#\+ //p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -cd '[:alnum:]\n_-'
}

for page in README.md docs/*.md; do
    while read -r link; do
        file=${link%%#*}
        [[ $link == https:* || -z $file || -e $(dirname "$page")/$file ]] || problem "no file $link"
        [[ $link == *#* ]] || continue
        anchors "${file:+$(dirname "$page")/}${file:-$page}" | grep -qxF -- "${link#*#}" ||
            problem "no heading for $link"
    done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//')
    while read -r name; do # may be a pattern
        compgen -G "$name" >"$work/found" || problem "no file $name"
    done < <(grep -oE '\b(bench|completions|cross|docs|front|grinder|hooks|rewriter|samples|service|support|tests|thunkstash|trace)/[][A-Za-z0-9_./*-]*[A-Za-z0-9*]' \
        "$page" | sort -u)
done
((problems == 0)) || fail "$problems names or links lead nowhere"
