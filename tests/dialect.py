"""Where CONTRIBUTING.md, "Code", chooses one of several ways to write the same: who chose another.

    dialect.py TREE

It reads the sources without a compiler, so it sees what stands in one of these forms:

    sizeof      an operand without parentheses, or a blank before them
    includes    another order of the blocks, or within one
    null        0 where a pointer belongs: returned by a function, assigned to or compared with a
                parameter, a local or a member, passed to a function that the tree declares
    const       a local whose type is a number, a truth value or an enum
    failures    a text of why that is handed back by itself, not in a struct failure; a message to
                the user in a folder whose callers decide what becomes of a failure
    format      where clang-format-14 is installed: a source, not a header, that it would change

Prints a line for each fault; exit status 1 if there is one.
"""
import os
import re
import shutil
import subprocess
import sys

APART = ('.git/', 'build/', 'tests/programs/')  # what is tested is written as users may write it

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'#include (["<])([^">]+)[">]')
FIRST = ('winsock2.h', 'windows.h')  # what Windows' other headers need, in this order
LAST = 'cmocka.h'  # needs four headers before it, and defines fail() and others

FUNCTION = re.compile(r'^(\w[^;{}=#()]*?)(\w+)\(((?:[^;{}#"])*?)\)'
                      r'(?:\s*__attribute__\(\(.*?\)\))*(;|\n\{\n(.*?)^\})', re.M | re.S)
STRUCT = re.compile(r'^(?:typedef |static |const )*(?:struct|union)\b[^;()=]*?\{\n(.*?)^\}',
                    re.M | re.S)
MEMBER = re.compile(r'^\s+(?:const |volatile |struct |union |enum |unsigned |long )*\w+ ([^;]+);',
                    re.M)
LOCALS = re.compile(r'^[ \t(for]*(?:static |const |struct |union |enum |unsigned |volatile )*'
                    r'(?!return |goto |else |case )\w+ (\**[a-z][^;]*);', re.M)
CONST = re.compile(r'^[ \t]+(?:for \()?const (?!struct |union |void )(?:enum )?(?:\w+ )+\w+'
                   r'(?: =(?! \{)|;|, )', re.M)
ZERO_ARGUMENT = re.compile(r'[(,]\s*0\s*(?=[,)])')
WHY = re.compile(r'\bchar \*\*why\b|[(,]\s*char (?:\*why\b|why\[\w*\])')
MESSAGE = re.compile(r'(?<![\w.>])message(?:_failure)?\(')
SILENT = ('image/', 'support/', 'trace/', 'rewriter/', 'grinder/events/', 'grinder/formats/',
          'grinder/unwind/', 'grinder/views/')
SPEAKING = ('grinder/views/top.c',)  # a verb of its own


def code_of(text):
    """The text with its comments and strings empty, and its lines where they were."""
    def blank(found):
        quote = found[0][0]
        return quote * 2 if quote in '"\'' else '\n' * found[0].count('\n')
    return NOT_CODE.sub(blank, text)


def split(text):
    """At commas outside of brackets."""
    depth, parts = 0, ['']
    for character in text:
        depth += (character in '([{') - (character in ')]}')
        if character == ',' and not depth:
            parts.append('')
        else:
            parts[-1] += character
    return parts


def is_null(value):
    """Is 0 one of the outcomes of what is assigned or returned? What calls are given is none."""
    before = None
    while before != value:
        before, value = value, re.sub(r'\([^()]*\)', '_', value)
    return bool(re.search(r'^\s*0\s*$|\?\s*0\s*:|[^?]*\?.*:\s*0\s*$', value, re.S))


class Tree:
    """The sources, and which members and parameters are pointers, from all of them together."""

    def __init__(self, top):
        self.faults, self.codes, self.members, self.parameters = [], {}, {}, {}
        self.parameters['cmocka_run_group_tests_name'] = [True, False, True, True]
        for path in sorted(self.find(top)):
            with open(os.path.join(top, path), encoding='utf-8') as file:
                text = file.read()
            self.codes[path] = text, code_of(text)
            self.collect(path, self.codes[path][1])

    @staticmethod
    def find(top):
        for folder, folders, names in os.walk(top):
            at = os.path.relpath(folder, top)
            at = '' if at == '.' else at + '/'
            folders[:] = [name for name in folders if not f'{at}{name}/'.startswith(APART)]
            yield from (at + name for name in names
                        if re.search(r'\.[ch]$', name))

    def collect(self, path, code):
        for body in STRUCT.findall(code):
            for declared in MEMBER.findall(body):
                for one in split(declared):
                    name = re.match(r'\s*(\**)(?:\(\*)?(?:const )?(\w+)(\[)?', one)
                    if name:
                        is_pointer = '*' in one and not name[3]
                        self.members[name[2]] = self.members.get(name[2], True) and is_pointer
        for function in FUNCTION.finditer(code):
            pointers = ['*' in one and '(*' not in one for one in split(function[3])]
            name = function[2]
            if 'static' in function[1]:
                name = path, name
            known = self.parameters.setdefault(name, pointers)
            self.parameters[name] = [a and b for a, b in zip(known, pointers)]

    def say(self, path, at, what):
        """at: where in the code, or a number of a line"""
        line = at if isinstance(at, str) else self.codes[path][1].count('\n', 0, at) + 1
        self.faults.append((path, int(line), what))

    def check(self, path):
        text, code = self.codes[path]
        for found in re.finditer(r'\bsizeof(?!\()', code):
            self.say(path, found.start(), 'sizeof without parentheses behind it: write sizeof(x)')
        for found in WHY.finditer(code):
            self.say(path, found.start(), 'a reason that fills in no struct failure')
        if path.startswith(SILENT) and path not in SPEAKING:
            for found in MESSAGE.finditer(code):
                self.say(path, found.start(), 'message() below its callers: fill in a struct failure')
        self.check_includes(path, text)
        pointers = set(re.findall(r'^(?:static|extern) [^;={}()]*\*(\w+)[;=]', code, re.M))
        for function in FUNCTION.finditer(code):
            if function[5]:
                self.check_function(path, function, pointers)
                for found in CONST.finditer(code, function.start(5), function.end(5)):
                    self.say(path, found.start(), 'const on a local that is a plain value')
        self.check_arguments(path, code)

    def check_includes(self, path, text):
        lines = text.split('\n')
        includes = [(number, INCLUDE.match(line)) for number, line in enumerate(lines)]
        includes = [(number, found[1] == '"', found[2]) for number, found in includes if found]
        own = self.own_header(path, lines, includes)
        before = None
        for number, is_ours, name in includes:
            kind = 0 if name == own else 3 if name == LAST else 2 if is_ours else 1
            key = kind, FIRST.index(name) if name in FIRST else len(FIRST), name
            if before:
                between = lines[before[0] + 1:number]
                if key <= before[1]:
                    self.say(path, str(number + 1), f'{name} is included behind {before[1][2]}')
                elif kind != before[1][0] and not between:
                    self.say(path, str(number + 1), f'no blank line above the include of {name}')
                elif kind == before[1][0] and between and not any(between):
                    self.say(path, str(number + 1), f'a blank line above the include of {name}')
            before = number, key

    @staticmethod
    def own_header(path, lines, includes):
        """The header that a source defines: of its name, or else the one in front, if alone."""
        if not path.endswith('.c') or path.endswith('_test.c'):
            return None
        ours = [(number, name) for number, is_ours, name in includes if is_ours]
        of_its_name = [name for _, name in ours
                       if os.path.basename(name) == os.path.basename(path)[:-2] + '.h']
        if of_its_name:
            return of_its_name[0]
        is_alone = ours and ours[0][0] == includes[0][0] and not lines[ours[0][0] + 1]
        return ours[0][1] if is_alone else None

    def check_function(self, path, function, pointers):
        head, _, parameters, _, body = function.groups()
        start = function.start(5)
        what = '0 for a pointer: write NULL'
        if head.rstrip().endswith('*'):
            for found in re.finditer(r'\breturn\b([^;]*);', body):
                if is_null(found[1]):
                    self.say(path, start + found.start(), what)
        pointers = pointers | {name for one in split(parameters)
                               for name in re.findall(r'[^(]\*(?:const )?(\w+)$', one)}
        for found in LOCALS.finditer(body):
            for one in split(found[1]):
                name = re.match(r'\s*\*+(?:const )?(\w+)\s*(=(.*))?$', one, re.S)
                if name:
                    pointers.add(name[1])
                    if name[2] and is_null(name[3]):
                        self.say(path, start + found.start(), what)
        for found in re.finditer(r'(?<![\w*&+\->.])(?:(?:\w|->|\.|\]|\[)*(->|\.))?(\w+) (==?|!=) '
                                 r'(?=([^;{}]*))', body):
            is_pointer = self.members.get(found[2]) if found[1] else found[2] in pointers
            if found[3] == '=':
                is_zero = is_null(split(found[4])[0])
            else:
                is_zero = re.match(r'0(?!\w)', found[4])
            if is_pointer and is_zero:
                self.say(path, start + found.start(2), what)

    def check_arguments(self, path, code):
        for found in ZERO_ARGUMENT.finditer(code):
            at, depth, commas = found.start(), 0, 0
            if code[at] == ',':
                commas = 1
                while at > 0 and depth <= 0:
                    at -= 1
                    if code[at] in ';{}':
                        break
                    depth += (code[at] in '([') - (code[at] in ')]')
                    commas += code[at] == ',' and depth == 0
                if code[at] != '(':
                    continue
            name = re.search(r'(\w+)$', code[max(0, at - 60):at])
            if not name:
                continue
            pointers = self.parameters.get((path, name[1])) or self.parameters.get(name[1], [])
            if commas < len(pointers) and pointers[commas]:
                self.say(path, found.start(), f'0 for a pointer, given to {name[1]}: write NULL')


def check_format(tree, top, paths):
    if not shutil.which('clang-format-14'):
        return
    said = subprocess.run(['clang-format-14', '--dry-run', '--Werror', *paths], cwd=top,
                          stderr=subprocess.PIPE, text=True, check=False).stderr
    for path, line in re.findall(r'^([^\s:]+):(\d+):\d+: error: code should be', said, re.M):
        tree.say(path, line, 'clang-format-14 writes this otherwise')


def main(top):
    tree = Tree(top)
    paths = [path for path in tree.codes if not path.startswith(APART)]
    for path in paths:
        tree.check(path)
    check_format(tree, top, [path for path in paths if path.endswith('.c')])
    for path, line, what in sorted(set(tree.faults)):
        print(f'{path}:{line}: {what}')
    return 1 if tree.faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
