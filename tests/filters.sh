#!/bin/bash
# --include, --exclude and --filter choose what is hooked; the last rule that matches decides.
. "$(dirname "$0")/lib.sh"

cat >shapes.cpp <<'END'
namespace shapes {
__attribute__((noinline)) int area(int side) { return side * side + 1; }
__attribute__((noinline)) int area(double side) { return static_cast<int>(side) + 2; }
__attribute__((noinline)) int edge(int side) { return side * 4 + 3; }
}
extern "C" __attribute__((noinline)) int plain(int number) { return number * 7 + 1; }
int main(int count, char **) { return shapes::area(count) + shapes::area(2.0 * count) + shapes::edge(count) + plain(count); }
END
build shapes "$work/shapes.cpp"

# hooked FUNCTION… : of those that shapes.cpp has, these are hooked and the others excluded.
hooked()
{
    local function symbol wanted
    for function in area_int area_double edge plain main; do
        case $function in
            area_int) symbol=_ZN6shapes4areaEi ;;
            area_double) symbol=_ZN6shapes4areaEd ;;
            edge) symbol=_ZN6shapes4edgeEi ;;
            *) symbol=$function ;;
        esac
        wanted='skipped excluded'
        [[ " $* " == *" $function "* ]] && wanted='hooked'
        [[ $(state_of "$symbol" shapes) == "$wanted"* ]] ||
            fail "$options: $function is $(state_of "$symbol" shapes), should be $wanted"
    done
}

# filtered OPTION…: no warning.
filtered()
{
    options=$*
    instrumented shapes "$@" 2>error
    [[ ! -s error ]] || { cat error; fail "$*: said something"; }
}

filtered --exclude=plain
hooked area_int area_double edge main
filtered --include=plain
hooked plain
filtered --exclude='shapes::*' --include='shapes::area(int)'
hooked area_int plain main
filtered --exclude='shapes::area'
hooked edge plain main
filtered --exclude='_ZN6shapes4area*'
hooked edge plain main
filtered --include='*' --exclude='*area*' --include='shapes::area(double)'
hooked area_double edge plain main
filtered --exclude=main --include=main
hooked area_int area_double edge plain main
filtered --include=shapes --exclude='shapes::*' # the module's name
hooked plain main
filtered --include=function:main
hooked main
filtered --exclude=module:shapes --include='shapes::edge'
hooked edge
filtered --include=module:native/shapes --exclude=plain
hooked area_int area_double edge main

# Source files, as debug information has them.
filtered --include=shapes.cpp
hooked area_int area_double edge plain main
filtered --exclude='source:*/shapes.cpp'
hooked
[[ $(state_of _start shapes) == skipped* ]] || fail "_start is hooked"

# A file's rules stand where its option stands.
cat >rules <<'END'
# what this is about

include shapes::*
  -shapes::edge*
+main
END
filtered --filter=rules
hooked area_int area_double main
filtered --filter=rules --exclude=main --include=plain
hooked area_int area_double plain

# A pattern that matches nothing is a warning.
options='--exclude=nosuch'
instrumented shapes --exclude=nosuch --exclude=plain 2>error
equal "warnings" "$(wc -l <error)" 1
contains error '^instrument: warning: --exclude=nosuch matches nothing'
hooked area_int area_double edge main
instrument native/shapes -o quiet --quiet --bundle --exclude=nosuch >said 2>&1
equal "what is said with --quiet" "$(<said)" ""
[[ $(instrument --list --quiet quiet) == $(instrument --list quiet) ]] || fail "--quiet, and no list"
if instrument native/shapes -o quiet --quiet 2>error; then fail "quiet was replaced"; fi
contains error '^instrument: quiet: '
options='--include=nosuch'
instrumented shapes --include=nosuch 2>error
contains error '^instrument: warning: --include=nosuch matches nothing'
hooked
same shapes

# --list says what would become of an original.
instrument --list native/shapes --exclude=plain >list
equal "plain" "$(awk -F '\t' '$5 == "plain" { print $3, $4 }' list)" 'skipped excluded'

refused()
{
    local expected=$1 pattern=$2 status=0
    shift 2
    instrument "$@" >said 2>error || status=$?
    equal "$*: status" "$status" "$expected"
    contains error "$pattern"
}
echo 'hook plain' >rules
refused 1 "rules: line 1: expected 'include PATTERN'.*'hook plain'" native/shapes -o out --filter=rules
refused 1 'nosuch: cannot read' native/shapes -o out --filter=nosuch
refused 2 'pattern' native/shapes -o out --include=
[[ ! -e out ]] || fail "something was written"

# Only what is hooked is recorded.
instrumented shapes --include='shapes::*'
recorded shapes
equal "calls of main" "$(calls_of main)" 0
equal "calls of shapes::area(int)" "$(calls_of 'shapes::area(int)')" 1
