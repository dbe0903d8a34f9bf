# What dynamic symbols, frame descriptions, direct calls and relocated pointers say together of a
# file without symbols. Prints `ADDRESS entry` for a true entry, `ADDRESS other` for what is none,
# `ADDRESS maybe` where only one speaks for it. Input, addresses in hex:
#
#     symbol ADDRESS          a function of the dynamic symbol table; start: where a program starts
#     frame START END KIND    plain: at START, CFA is rsp + 8; odd: it is not
#     pointer ADDRESS         relocated
#     plt ADDRESS             of a section of the procedure linkage table
#     call TARGET             jump TARGET SOURCE          condition TARGET SOURCE

function plain(address) {
    sub(/^0+/, "", address)
    return address
}

# Hex numbers compare as strings if equally long.
function wide(address) {
    return "x" substr("0000000000000000" address, length(address) + 1)
}

{ target = plain($2) }
$1 == "plt" { is_plt[target] = 1 }
$1 == "start" { print target, "other" }
$1 == "symbol" { is_symbol[target] = 1 }
$1 == "frame" { ends[target] = wide(plain($3)); kinds[target] = $4 }
$1 == "pointer" { is_pointer[target] = 1 }
$1 == "call" { is_called[target] = 1 }
$1 == "jump" { is_jumped[target] = 1 }
$1 == "condition" && target in kinds && !is_own(plain($3), target) { is_condition[target] = 1 }

function is_own(source, start) {
    return wide(source) >= wide(start) && wide(source) < ends[start]
}

# Without a frame description only one speaks for it.
function put_maybe(address) {
    if (!is_symbol[address] && !(address in kinds))
        print address, "maybe"
}

END {
    for (address in is_symbol)
        print address, "entry"
    for (address in kinds) {
        if (is_symbol[address])
            continue
        if (kinds[address] == "odd" || is_plt[address])
            kind = "other"
        else if (is_called[address] || (is_pointer[address] && !is_condition[address]))
            kind = "entry"
        else
            kind = is_condition[address] ? "other" : "maybe"
        print address, kind
    }
    for (address in is_called)
        put_maybe(address)
    for (address in is_pointer)
        put_maybe(address)
}
