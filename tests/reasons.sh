#!/bin/bash
# Each word of docs/list.md is earned by a function made for it.
# needs: gcc-mingw-w64-x86-64
. "$(dirname "$0")/lib.sh"

build reasons reasons_amd64.S
instrumented reasons --exclude=excluded --instrument-imports
same reasons
instrument --verify instrumented/reasons >verified

for function in plain adjusted padding short_jump redirected; do
    equal "$function" "$(state_of $function reasons)" "$(hooked_by "${function//_/-}")"
done
for function in fragment signal_frame return_address excluded too_short branch_target \
    loop_at_entry call_in_patch unmovable undecodable generated frame_table; do
    equal "$function" "$(state_of $function reasons)" "skipped ${function//_/-}"
done
equal "data behind code" "$(state_of with_table reasons)" "hooked plain"
[[ $(state_of with_table_and_branch reasons) != "hooked plain" ]] || fail "a branch was overlooked"
equal "data or a loop" "$(state_of with_table_like_a_loop reasons)" "skipped undecodable"
equal _start "$(state_of _start reasons)" "skipped no-return-address"
equal exit@plt "$(state_of exit@plt reasons)" "hooked import"
equal __libc_start_main@plt "$(state_of __libc_start_main@plt reasons)" "skipped import-special"
equal setjmp "$(state_of setjmp reasons)" "skipped returns-twice"
equal _Unwind_RaiseException "$(state_of _Unwind_RaiseException reasons)" "skipped unwinder"

# state_at ADDRESS: in hex
state_at()
{
    instrument --list instrumented/reasons |
        awk -F '\t' -v address="0x${1##*(0)}" '$1 == address { print $3, $4 }'
}
# Where bodies are copied, code among V8's builtins stays where it is.
instrument --list --how=copy native/reasons >copied.list
equal generated_entry \
    "$(awk -F '\t' '$5 == "generated_entry" { print $3, $6 }' copied.list)" "hooked unmovable"
shopt -s extglob
inside=$(nm native/reasons | awk '$3 == "inside_function" { print $1 }')
equal inside_function "$(state_at "$inside")" "skipped inside-function"
aligned=$(nm native/reasons | awk '$3 == "aligned_fragment" { print $1 }')
equal "a fragment that is aligned by chance" "$(state_at "$aligned")" "skipped fragment"
inside=$(nm native/reasons | awk '$3 == "in_no_function" { print $1 }')
equal "what a table may call" "$(state_at "$inside")" ""
plt=$(objdump -d native/reasons | awk '$NF == "<exit@plt>" { plt = $(NF - 1) } END { print plt }')
equal "the stub of exit" "$(state_at "$plt")" "skipped plt"

# What only Windows images can earn.
x86_64-w64-mingw32-gcc "$TESTS/programs/windows/reasons.S" -o native/reasons.exe
instrument --list native/reasons.exe >windows.list
equal guarded_at_entry \
    "$(awk -F '\t' '$5 == "guarded_at_entry" { print $3, $4 }' windows.list)" "skipped guarded"

# What only static programs can earn.
build locked locked.c -DWITHOUT_LIBRARIES -static
instrument --list native/locked >static.list
equal mlockall "$(awk -F '\t' '$5 == "mlockall" { print $3, $4 }' static.list)" \
    "skipped memory-lock"

# What only Haskell's images can earn.
build haskell info_tables.c info_tables_amd64.S
instrument --list native/haskell >haskell.list
equal jumps_info "$(awk -F '\t' '$5 == "jumps_info" { print $3, $4 }' haskell.list)" \
    "skipped info-table"

# Nothing is said that is not in docs/list.md, and nothing is there that was not tried here.
{
    instrument --list instrumented/reasons
    instrument --list --how=prologue native/reasons | tail -n +2
    grep guarded_at_entry windows.list
    grep memory-lock static.list
    grep info-table haskell.list
} | awk -F '\t' 'NR > 1 { print $4 }' | sort -u >earned
# Not the words for bodies that are not copied, which tests/copies.sh and copy_emit_test are about.
sed -nE -e '/^\| not copied/q' -e 's/^\| `([a-z-]+)` .*/\1/p' "$TESTS/../docs/list.md" |
    if [[ $(hooked_by plain) == "hooked copied" ]]; then cat; else grep -vx copied; fi |
    sort -u >documented
diff documented earned || fail "the words of docs/list.md (<) and those earned (>) differ"
