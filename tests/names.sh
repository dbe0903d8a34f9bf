#!/bin/bash
# A function of several names is shown by the one that people call it by, and --function finds it by each,
# demangled with and without arguments.
# needs: g++ jq
. "$(dirname "$0")/lib.sh"

cat >names.cpp <<'END'
#include <cstdlib>
namespace {
__attribute__((noinline)) int hidden(int n) { volatile int x = n; return x + 1; }
}
namespace space {
template <class T> __attribute__((noinline)) T twice(T n) { volatile T x = n; return x * 2; }
}
extern "C" {
__attribute__((noinline)) int __lib_compute(int n) { volatile int x = n; return x + 3; }
int compute(int) __attribute__((weak, alias("__lib_compute")));
int _IO_compute(int) __attribute__((alias("__lib_compute")));
}
int main(int count, char **)
{
    void *volatile room = malloc(100);
    free(room);
    return hidden(count) + space::twice(count) + compute(count) + compute(count) == 0;
}
END
build names "$work/names.cpp"
instrumented names
recorded names

equal "the name that is shown" "$(calls_of compute)" 2
equal "the name that is not" "$(calls_of __lib_compute)" 0

# found PATTERN CALLS [TRACES]: --function=PATTERN selects a function of so many calls
found()
{
    grinder --mode=profile --merge --output-format=json --output-file=json --function="$1" \
        "${3:-traces}" || fail "--function=$1 finds nothing"
    equal "calls of $1" "$(jq "[.parts[].calls] | add" json)" "$2"
}

for name in compute __lib_compute _IO_compute 'comp*'; do
    found "$name" 2
done
for name in 'int space::twice<int>(int)' 'space::twice<int>' 'int space::twice<int>' \
    _ZN5space5twiceIiEET_S1_ '(anonymous namespace)::hidden' '(anonymous namespace)::hidden(int)'; do
    found "$name" 1
done
# What the search of the page looks at.
grinder --mode=report --output-file=page.html traces 2>said
contains page.html '"aliases":\[.*"(_IO_compute __lib_compute|__lib_compute _IO_compute)"'

status=0
grinder --mode=profile --output-file=- --function=twice traces >none 2>problems || status=$?
equal "status of a name that no function has" "$status" 1

# The C library's, by its own symbols.
umbra record --output=umbra.data -- native/names >said 2>&1
for name in malloc __libc_malloc; do
    umbra report --output-format=json -o json --function="$name" umbra.data >said ||
        fail "umbra report --function=$name finds nothing"
    jq -e '[.parts[].functions[] | select(.calls > 0)] | length > 0' json >/dev/null ||
        fail "no calls of $name"
done
umbra report --output-format=json -o json umbra.data >said
jq -e '[.functions[].name] | index("malloc") and (index("__libc_malloc") | not)' json >/dev/null ||
    fail "malloc is shown as $(jq -c '[.functions[].name | select(contains("malloc"))]' json)"
