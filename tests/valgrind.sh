#!/bin/bash
# Valgrind's tools are left as they are: a recorded valgrind, and the program that runs in it, say what
# they say natively.
# needs: valgrind
. "$(dirname "$0")/lib.sh"

cat >leaks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **arguments)
{
    char *text = malloc(10), *lost = malloc(20);

    strcpy(text, arguments[0]);
    printf("%zu %d\n", strlen(text), count);
    printf("%d\n", lost[3] == 1); /* not set */
    free(text);
    return 3;
}
END
gcc -O0 -g leaks.c -o leaks

# said COMMAND…: its status, and what it says, without pids and what the recording says
said()
{
    local status=0
    "$@" >said.out 2>&1 || status=$?
    echo "status $status"
    sed -E -e 's/==[0-9]+==/==/' -e '/^umbra: /d' -e '/Collected|refs:/d' said.out
}

for tool in memcheck callgrind massif; do
    command=(valgrind --tool=$tool --"$tool"-out-file=out ./leaks)
    [[ $tool == memcheck ]] && command=(valgrind --tool=$tool ./leaks)
    said "${command[@]}" >native.said
    contains native.said '^status 3'
    rm -rf umbra.data
    XDG_CACHE_HOME=$work/cache said umbra record --quiet -- "${command[@]}" >recorded.said
    diff native.said recorded.said || fail "$tool says something else while it is recorded"
    grinder --mode=summary umbra.data/traces/*.bin >summary 2>problems || fail "$tool: not balanced"
    umbra ls --left umbra.data >left 2>&1
    contains left "$tool-amd64-linux: .*found a tool of Valgrind's"
done
