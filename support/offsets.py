"""Makes the header that support/offsets.h tells of: offsets.py OBJECT HEADER."""

import re
import sys


def main(compiled, header):
    with open(compiled, encoding="latin-1") as file:
        numbers = re.findall(r"->(\w+) \$?(-?\d+)\n", file.read())
    if not numbers:
        sys.exit(f"{compiled}: expected lines of support/offsets.h, found none")
    with open(header, "w", encoding="utf-8") as file:
        file.write("/* Made by support/offsets.py. */\n")
        for name, number in numbers:
            file.write("#define {} {}\n".format(name, f"({number})" if int(number) < 0 else number))


if __name__ == "__main__":
    main(*sys.argv[1:])
