#!/bin/bash
# Hand-written functions hand flags over where bodies are copied as they did: as results, by calls, jumps,
# pointers, and across images.
. "$(dirname "$0")/lib.sh"

for options in '' '-no-pie' '-Wl,-z,now'; do
    # shellcheck disable=SC2086
    build libflags.so copied_flags_amd64.S -DLIBRARY -shared -Wl,-soname,libflags.so ${options/-no-pie}
    # shellcheck disable=SC2086
    build flags copied_flags.c copied_flags_amd64.S native/libflags.so -Wl,-rpath,. $options
    for how in prologue copy; do
        instrumented libflags.so --how=$how
        instrumented flags --how=$how
        recorded flags
        equal "the program itself, $options" "$(<native.status)" 0
        for function in pick ask takes; do
            [[ $(calls_of $function) -ge 10 ]] || fail "$function was not recorded, $how $options"
        done
    done
    # The originals of what is copied are gone.
    instrumented libflags.so --how=copy --poison
    instrumented flags --how=copy --poison
    same flags
done

# not_copied IMAGE FUNCTION…: for its flags
not_copied()
{
    local image=$1 function
    shift
    instrument --list --how=copy "native/$image" >list
    for function; do
        equal "why $function is not copied" \
            "$(awk -F '\t' -v name="$function" '$5 == name { print $3, $6 }' list)" "hooked flags"
    done
}
not_copied flags ask ask_by_pointer ask_library ask_across keeps keeps_too takes takes_in_call \
    ask_by_argument ask_by_argument_in_call ask_by_jump_with_flags ask_by_condition_with_flags
not_copied libflags.so ask_by_own_name ask_by_own_slot
# Flags that a function leaves, or is given, bar it from nothing: nothing stands where it begins and ends.
for function in main pick pick_bare pick_by_jump pick_by_condition pick_by_call takes_in_fact is_taken; do
    equal "$function" "$(instrument --list --how=copy native/flags |
        awk -F '\t' -v name="$function" '$5 == name { print $4 }')" copied
done
