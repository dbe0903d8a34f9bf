#!/bin/bash
# In copies of functions dladdr, gdb, perf and nm find the function's name; by its name the original
# is found, in programs and libraries, with each kind of hash table, stripped or not.
# needs: binutils clang gdb lld
. "$(dirname "$0")/lib.sh"

# named NAME: says the same as natively; dynamic symbols of alpha are the original and its copy.
named()
{
    local copies
    instrumented "$1" --how=copy
    instrument --verify "instrumented/$1" >/dev/null
    instrument --undo "instrumented/$1" -o undone --overwrite >/dev/null
    cmp undone "native/$1"
    equal "$1: alpha" "$(state_of alpha "$1")" "hooked copied"
    readelf --wide --dyn-syms --symbols --version-info --histogram "instrumented/$1" >symbols 2>said
    equal "what readelf says of $1" "$(<said)" ""
    copies=$(readelf --wide --dyn-syms "instrumented/$1" | awk '$8 ~ /^alpha(@|$)/' | wc -l)
    equal "$1: dynamic symbols of alpha" "$copies" 2
}

for options in "gcc -Wl,--hash-style=gnu" "gcc -Wl,--hash-style=sysv" "gcc -Wl,--hash-style=both" \
    "clang -fuse-ld=lld" "gcc -no-pie" "gcc -Wl,--version-script=$work/versions"; do
    read -r CC flags <<<"$options"
    echo 'V1 { global: alpha; beta; gamma_rays; main; library_main; say_caller; ask; local: *; };' >versions
    build names copy_names.c -rdynamic $flags
    named names
    recorded names
    contains native.stdout '^alpha$'
    strip -o native/bare native/names
    named bare
    recorded bare

    [[ $flags == *no-pie* ]] && continue
    # a library: who links with it finds its functions
    build libnames.so copy_names.c -shared -fPIC -Dmain=library_main $flags
    named libnames.so
    echo 'extern int library_main(void); int main(void) { return library_main(); }' >user.c
    for folder in native instrumented; do
        gcc -o $folder/user user.c -L$folder -Wl,-rpath,'$ORIGIN' -l:libnames.so
        run $folder ./user
    done
    compare_runs "a program linked with the library, $options"
done
CC=gcc

echo "-- tools"
build names copy_names.c
instrumented names --how=copy
equal "symbols of alpha" "$(nm instrumented/names | grep -c ' alpha$')" 2
copy=$(nm instrumented/names | awk '$3 == "alpha" && $2 == "t" { print "0x" $1 }')
equal "symbols of main" "$(nm instrumented/names | awk '$3 == "main" { print $2 }' | sort)" $'T\nt'
main=$(nm instrumented/names | awk '$3 == "main" && $2 == "T" { print "0x" $1 }')
equal "the global main" "$(gdb -nx -batch -ex "info symbol $main" instrumented/names 2>/dev/null)" \
    "main in section .umbra.stubs"
equal "gdb's name" "$(gdb -nx -batch -ex "info symbol $copy" instrumented/names 2>/dev/null)" \
    "alpha in section .umbra.stubs"
build names copy_names.c -rdynamic -s
instrumented names --how=copy
copy=$(readelf --wide --dyn-syms instrumented/names | awk '$8 == "alpha" { print "0x" $2 }' | sort | tail -n 1)
equal "gdb's name by dynamic symbols" "$(gdb -nx -batch -ex "info symbol $copy" instrumented/names 2>/dev/null)" \
    "alpha in section .umbra.stubs"
readelf --wide --dyn-syms instrumented/names | awk '$8 == "alpha" { print $7 }' | sort -n | tail -n 1 >section
contains <(readelf --wide --section-headers instrumented/names) "\\[ *$(<section)\\] .umbra.stubs"
build names copy_names.c
instrumented names --how=copy
strip -o stripped instrumented/names
build counted copy_names.c -Wl,--emit-relocs
instrumented counted --how=copy
equal "symbols of alpha that relocations count" "$(nm instrumented/counted | grep -c ' alpha$')" 1
(cd instrumented && ../stripped >/dev/null)
