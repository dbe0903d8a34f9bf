# Reads a reference (ADDRESS KIND), then `list ADDRESS STATE HOW` as instrument has it; prints one
# line of tests/coverage. Fails if less than `bar` per cent are hooked, or if anything is that is no
# entry.

function padded(address) {
    sub(/^ *0*/, "", address)
    return address
}

# A place with several symbols is an entry if one of them says so.
$1 != "list" {
    address = padded($1)
    if (kinds[address] != "entry")
        kinds[address] = $2
    next
}

{
    address = padded($2)
    if (kinds[address] == "entry") {
        is_found[address] = 1
        if ($3 == "hooked")
            is_hooked[address] = 1
        else
            left_alone[$4]++
    } else if ($3 == "hooked" && kinds[address] != "maybe") {
        wrong++
        if (wrong <= 10)
            printf "    hooked and no entry: 0x%s (%s)\n", address, \
                address in kinds ? kinds[address] : "unknown" > "/dev/stderr"
    }
}

END {
    for (address in kinds)
        if (kinds[address] == "entry") {
            entries++
            found += is_found[address]
            hooked += is_hooked[address]
            if (!is_found[address] && ++missed <= 10)
                printf "    not found: 0x%s\n", address > "/dev/stderr"
        }
    part = entries ? 100 * hooked / entries : 0
    printf "%-28s %-8s %8d %8d %8d %7.2f%% %6d", name, kind, entries, found, hooked, part, wrong
    for (reason in left_alone)
        printf "  %s %d", reason, left_alone[reason]
    printf "\n"
    exit part < bar || wrong > 0
}
