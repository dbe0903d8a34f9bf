"""instruction_counts.py PROGRAM LIST TSV CALLGRIND…: where the instructions of a program's functions differ in the
grinder's table and in callgrind's files (--dump-instr=yes --compress-strings=no --compress-pos=no).

LIST is of `instrument --list`. A fragment (f.cold) is part of the function that jumps there. Prints a line for each
function that differs:

    differs FUNCTION OURS CALLGRIND
    rep FUNCTION OURS CALLGRIND         callgrind counts each round of an instruction that repeats
    without-copy FUNCTION 0 CALLGRIND   what has no copy is not counted
    sum OURS CALLGRIND                  of all others; the last line
"""
import bisect
import collections
import csv
import re
import subprocess
import sys


def rows(path):
    with open(path) as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


class Functions:
    """Those of `instrument --list`, by where they begin."""

    def __init__(self, path):
        self.all = sorted((int(row["address"], 16), int(row["size"]), row["how"], row["name"] or row["address"])
                          for row in rows(path))
        self.begins = [function[0] for function in self.all]
        self.wholes = {}  # of fragments: the function that jumps there

    def of(self, address):
        place = bisect.bisect_right(self.begins, address) - 1
        if place < 0 or address >= self.begins[place] + self.all[place][1]:
            return None
        return self.all[place]

    def whole(self, begin):
        seen = set()
        while begin in self.wholes and begin not in seen:
            seen.add(begin)
            begin = self.wholes[begin]
        return begin


def find_rep_and_wholes(program, functions):
    """Returns where functions begin that have instructions that repeat, and where those of .init and .fini, which
    are nobody's to callgrind."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, check=True,
                          text=True).stdout
    repeating, strangers, section = set(), set(), None
    for line in re.finditer(r"^Disassembly of section (.*):$|^ *([0-9a-f]+):\t(\S+) *([0-9a-f]*)", text, re.M):
        section = line[1] or section
        here = functions.of(int(line[2], 16)) if line[2] else None
        if here and section in (".init", ".fini"):
            strangers.add(here[0])
        if here and line[3].startswith("rep"):
            repeating.add(here[0])
        if here and line[3].startswith("j") and line[4]:
            there = functions.of(int(line[4], 16))
            if there and there[2] == "fragment" and there != here:
                functions.wholes.setdefault(there[0], here[0])
    return {functions.whole(begin) for begin in repeating}, strangers


def read_callgrind(paths):
    """By object and address. The line behind calls= is the callee's."""
    counts = collections.Counter()
    for path in paths:
        module, is_of_call = None, False
        with open(path) as file:
            for line in file:
                if line.startswith("ob="):
                    module = line.rstrip().rsplit("/", 1)[-1]
                elif line.startswith("calls="):
                    is_of_call = True
                elif line.startswith("0x"):
                    if not is_of_call:
                        address, _, count = line.split()
                        counts[module, int(address, 16)] += int(count)
                    is_of_call = False
    return counts


def main(program, list_path, tsv_path, *callgrind_paths):
    name = program.rsplit("/", 1)[-1]
    functions = Functions(list_path)
    repeating, strangers = find_rep_and_wholes(program, functions)
    ours, theirs = collections.Counter(), collections.Counter()
    for row in rows(tsv_path):
        if row["module"].endswith("/" + name) and row["address"]:
            ours[int(row["address"], 16)] += int(row["self_instructions"])
    for (module, address), count in read_callgrind(callgrind_paths).items():
        function = functions.of(address)
        if module == name and function:
            theirs[functions.whole(function[0])] += count
    sums = [0, 0]
    for begin, _, how, name in functions.all:
        pair = ours[begin], theirs[begin]
        if begin in strangers:
            continue
        if pair[0] == pair[1]:
            kind = None
        elif begin in repeating:
            kind = "rep"
        else:
            kind = "differs" if how == "copied" or pair[0] else "without-copy"
        if kind:
            print(kind, name, *pair)
        if kind in (None, "differs"):
            sums = [sums[0] + pair[0], sums[1] + pair[1]]
    print("sum", *sums)


if __name__ == "__main__":
    main(*sys.argv[1:])
