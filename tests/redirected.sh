#!/bin/bash
# Functions with no byte to spare: calls, tail calls and pointers go to the stub, or nothing does,
# so that addresses of functions stay equal. Each way of linking puts the pointers elsewhere.
# needs: lld binutils
. "$(dirname "$0")/lib.sh"

# check REDIRECTED OPTION…: the words name functions that must be; calls of them are counted.
check()
{
    local function
    local -a functions
    read -ra functions <<<"$1"
    shift
    echo "$*"
    build redirected redirected.c redirected_amd64.S "$@"
    instrumented redirected
    instrument --verify instrumented/redirected >/dev/null
    instrument --undo instrumented/redirected -o undone --overwrite
    cmp undone native/redirected
    recorded redirected
    for function in "${functions[@]}"; do
        equal "$*: $function" "$(state_of "$function" redirected)" "$(hooked_by redirected)"
        equal "$*: calls of $function" "$(calls_of "$function")" 10
    done
    # One way is a branch of two bytes, which reaches no stub: none of them is changed.
    equal "$*: by_short_branch" "$(state_of by_short_branch redirected)" "skipped too-short"
    # In front of one is something to be read by its address.
    equal "$*: preceded" "$(state_of preceded redirected)" "skipped too-short"
}

all='called jumped_to pointed_at taken from_prologue exported'
check "$all" -fPIE -pie
check "$all" -fPIE -pie -rdynamic
check "$all" -fPIE -pie -Wl,-z,pack-relative-relocs
check "$all" -fPIE -pie -fuse-ld=lld
check "$all" -fPIE -pie -fuse-ld=gold
UMBRA_TEST_HOW=prologue check "$all" -fPIE -static-pie # static programs have no copies
# Without relocations nobody knows what is a pointer.
for how in -no-pie -static; do
    if [[ $how == -static ]]; then
        UMBRA_TEST_HOW=prologue
    fi
    check 'called jumped_to from_prologue' -fno-PIE $how
    equal "$how: pointed_at" "$(state_of pointed_at redirected)" "skipped too-short"
    equal "$how: taken" "$(state_of taken redirected)" "skipped too-short"
done

# Exported by a library: the program's address of it is the library's.
gcc -fPIC -shared -Wl,-soname,libtiny.so -x assembler-with-cpp -o native/libtiny.so - <<'END'
        .globl  tiny
        .type   tiny, @function
        .skip   160, 0xf4
tiny:   .cfi_startproc
        ret
        .cfi_endproc
        .size   tiny, . - tiny
        .skip   160, 0xf4
        .globl  own
        .type   own, @function
own:    .cfi_startproc
        mov     tiny@GOTPCREL(%rip), %rax
        ret
        .cfi_endproc
        .size   own, . - own
        .section .note.GNU-stack, "", @progbits
END
cat >user.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
void tiny(void);
void *own(void);
int main(void)
{
    for (int i = 0; i < 7; i++)
        tiny();
    printf("%d\n", own() == (void *)tiny && own() == dlsym(RTLD_DEFAULT, "tiny"));
    return 0;
}
END
for how in -pie -no-pie; do
    build user "$work/user.c" "$work/native/libtiny.so" -Wl,-rpath,'$ORIGIN' $how
    instrumented user
    instrumented libtiny.so
    recorded user
    equal "tiny" "$(state_of tiny libtiny.so)" "$(hooked_by redirected)"
    equal "calls of tiny" "$(calls_of tiny)" 7
    contains native.stdout 1
done
