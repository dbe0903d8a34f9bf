"""block_counts.py PROGRAM LIST OURS CALLGRIND…: where instructions of a program ran another number of times by the
grinder's coverage (--output-format=callgrind) than by callgrind (--dump-instr=yes --compress-strings=no
--compress-pos=no).

LIST is of `instrument --list`. Functions without a copy are left out, and so are instructions that repeat, which
callgrind counts each round. Prints a line for each instruction that differs, and, last, how often all others ran:

    differs FUNCTION ADDRESS OURS CALLGRIND
    sum COUNT
"""
import re
import subprocess
import sys

from instruction_counts import Functions, find_rep_and_wholes, read_callgrind


def find_repeating(program):
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, check=True,
                          text=True).stdout
    return {int(line[1], 16) for line in re.finditer(r"^ *([0-9a-f]+):\trep", text, re.M)}


def of_module(name, paths):
    return {address: count for (module, address), count in read_callgrind(paths).items() if module == name}


def main(program, list_path, ours_path, *callgrind_paths):
    name = program.rsplit("/", 1)[-1]
    functions = Functions(list_path)
    ours, theirs = of_module(name, [ours_path]), of_module(name, callgrind_paths)
    _, strangers = find_rep_and_wholes(program, functions)
    both = 0
    for address in sorted((ours.keys() | theirs.keys()) - find_repeating(program)):
        function = functions.of(address)
        pair = ours.get(address, 0), theirs.get(address, 0)
        if pair[0] == pair[1]:
            both += pair[0]
        elif function and function[0] not in strangers and (pair[0] or function[2] in ("copied", "fragment")):
            print("differs", function[3], hex(address), *pair)
    print("sum", both)


main(*sys.argv[1:])
