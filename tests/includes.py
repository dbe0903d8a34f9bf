"""Who includes whom: against the rooms drawn in docs/architecture.md, and for circles.

    includes.py TREE

The picture and the exceptions are the fenced blocks `rooms` and `exceptions` of
TREE/docs/architecture.md, which says what they mean. A room has rooms of its own if there is a block
that begins with its path, as `rewriter/elf`. What is judged are units: NAME.c and NAME.h of a folder
are one. A folder linux/ or windows/, in a room or beside the rooms, is no room, nor is that of a processor, x86_64/ or
i386/, nor none/, of what one of them has not got:

    linux/NAME.c    with a NAME.h in a room     is of that header's unit, and so in its room
                    with a NAME.h beside it     is a helper, with that header. In a room, it is of that
                                                room. Beside the rooms, what it includes counts as
                                                included by those that include it
                    with neither                is of the unit that it includes first

Tests (NAME_test.c) may include all that is in their part of the tree or below it. An exception names
two files, and excepts their units.

Prints a line for each fault, with what is to be done; exit status 1 if there is one.
"""
import os
import re
import sys

PLATFORMS = {'linux', 'windows', 'x86_64', 'i386', 'none'}  # and processors, and neither
APART = {'.git', 'build'}
PROGRAMS = 'tests/programs/'  # to be tested, not ours: what these include is not looked at
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def stem(path):
    return re.sub(r'\.\w+$', '', path)


class Rooms:
    """One block: which rooms a folder has, and which may include which."""

    def __init__(self, folder):
        self.folder = folder
        self.floors = []  # from the top; each a list of towers, each a list of rooms from the top

    def place(self, room):
        for floor, towers in enumerate(self.floors):
            for number, tower in enumerate(towers):
                if room in tower:
                    return floor, number, tower.index(room)
        return None

    def allows(self, above, below):
        a, b = self.place(above), self.place(below)
        return above == below or a[0] < b[0] or (a[:2] == b[:2] and a[2] < b[2])


class Picture:
    """What docs/architecture.md says."""

    def __init__(self, path):
        self.parts, self.exceptions, self.faults = {}, {}, []
        kind, lines = None, []
        with open(path, encoding='utf-8') as file:
            for line in file:
                if kind is None:
                    if line.startswith('```'):
                        kind, lines = line[3:].strip() or 'text', []
                elif line.startswith('```'):
                    if kind == 'rooms':
                        self.read_rooms(lines)
                    elif kind == 'exceptions':
                        self.read_exceptions(lines)
                    kind = None
                else:
                    lines.append(line.rstrip('\n'))
        if 'the tree' not in self.parts:
            sys.exit(f'{path}: expected a block ```rooms that begins with "the tree", found none')

    def read_rooms(self, lines):
        rooms = Rooms(lines[0].strip())
        for line in lines[1:]:
            if line.lstrip().startswith('|'):
                cells = line.strip().split('|')[1:-1]
                rooms.floors.append([cell.strip().split(' over ') for cell in cells])
        self.parts[rooms.folder] = rooms

    def read_exceptions(self, lines):
        """Arrows, and below one or several of them their reason, indented."""
        arrows, reason = [], ''
        for line in lines:
            found = re.match(r'(\S+) -> (\S+)$', line)
            if found and reason:
                arrows, reason = [], ''
            if found:
                arrows.append((found[1], found[2]))
            else:
                reason += line.strip()
            self.exceptions.update((arrow, reason) for arrow in arrows)
        for arrow, reason in self.exceptions.items():
            if not reason:
                self.faults.append(f'the exception {arrow[0]} -> {arrow[1]} has no reason below it')


class Tree:
    """The sources, their units, and who includes whom."""

    def __init__(self, top, picture):
        self.top, self.picture, self.faults = top, picture, []
        self.files = sorted(self.find())
        self.present = set(self.files)
        self.includes = {path: [] if path.startswith(PROGRAMS) else self.read(path)
                         for path in self.files}
        self.units = {path: self.unit_of(path) for path in self.files}
        self.arrows = {}  # (unit, unit): a file that includes, line, file included
        for path in self.files:
            for number, target in self.includes[path]:
                arrow = self.units[path], self.units[target]
                if arrow[0] != arrow[1]:
                    self.arrows.setdefault(arrow, (path, number, target))

    def find(self):
        for folder, folders, names in os.walk(self.top):
            at = os.path.relpath(folder, self.top)
            folders[:] = [name for name in folders
                          if os.path.normpath(os.path.join(at, name)) not in APART]
            for name in names:
                if re.search(r'\.([chS]|cpp|inc)$', name):
                    yield os.path.normpath(os.path.join(at, name))

    def read(self, path):
        found = []
        with open(os.path.join(self.top, path), encoding='utf-8', errors='replace') as file:
            for number, line in enumerate(file, 1):
                include = INCLUDE.match(line)
                if include:
                    found += [(number, target)
                              for target in self.resolve(path, number, include[1])]
        return found

    def resolve(self, path, number, name):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        part = path.split('/')[0]
        of_platform = [other for other in self.files if other.startswith(part + '/') and self.is_of_platform(other)
                       and os.path.basename(other) == name]
        for candidates in [name], [beside], of_platform:
            found = [candidate for candidate in candidates if candidate in self.present]
            if found:
                return found
        if not self.is_generated(part, name):
            self.faults.append(f'{path}:{number}: includes "{name}", and there is no such file in '
                               'the tree: write its path from the top of the tree')
        return []

    def is_generated(self, part, name):
        try:
            with open(os.path.join(self.top, part, 'meson.build'), encoding='utf-8') as file:
                return f"'{os.path.basename(name)}'" in file.read()
        except OSError:
            return False

    def is_of_platform(self, path):
        return any(folder in PLATFORMS for folder in path.split('/')[1:-1])

    def unit_of(self, path):
        if not self.is_of_platform(path):
            return stem(path)
        header = os.path.basename(stem(path)) + '.h'
        if os.path.join(os.path.dirname(path), header) in self.present:
            return stem(path)
        part = path.split('/')[0]
        of_rooms = [other for other in self.files
                    if other.startswith(part + '/') and os.path.basename(other) == header
                    and not self.is_of_platform(other)]
        if of_rooms:
            return stem(of_rooms[0])
        if path.endswith('.c') and self.includes[path] and not path.endswith('_test.c'):
            first = self.includes[path][0][1]
            if first.startswith(part + '/'):
                return stem(first)
        return stem(path)

    def rooms_of(self, unit):
        """The rooms that it is in, from the outside: [(picture, room), ...]; the last room is None
        for a helper. What lies in a folder itself is in the room of that folder's name."""
        folders = unit.split('/')[:-1]
        rooms = [('the tree', unit.split('/')[0])]
        for depth in range(1, len(folders) + 1):
            folder = '/'.join(folders[:depth])
            if folder not in self.picture.parts:
                break
            room = folders[depth] if depth < len(folders) else folders[-1]
            rooms.append((folder, None if room in PLATFORMS else room))
        return rooms

    def is_helper(self, unit):
        return self.rooms_of(unit)[-1][1] is None

    def exceptions(self):
        """(unit, unit): the exception as it is written, which names files."""
        found = {}
        for arrow in self.picture.exceptions:
            missing = [path for path in arrow if path not in self.present]
            if missing:
                self.faults.append(f'the exception {arrow[0]} -> {arrow[1]}: there is no '
                                   f'{missing[0]}: take it out')
            else:
                found[self.units[arrow[0]], self.units[arrow[1]]] = f'{arrow[0]} -> {arrow[1]}'
        return found

    def check_rooms(self):
        """Each unit is in a room that is drawn, and each room that is drawn has one."""
        seen = set()
        for unit in sorted(set(self.units.values())):
            for part, room in self.rooms_of(unit):
                seen.add((part, room))
                if room and not self.picture.parts[part].place(room):
                    folder = (room if part == 'the tree' else
                              part if os.path.dirname(unit) == part else f'{part}/{room}')
                    self.faults.append(f'{unit}: {folder}/ is not in the picture "{part}"')
                    self.picture.parts[part].floors.insert(0, [[room]])
        for part, rooms in self.picture.parts.items():
            for room in [room for floor in rooms.floors for tower in floor for room in tower]:
                if (part, room) not in seen:
                    self.faults.append(f'{room}, in the picture "{part}", has no source: '
                                       'take it out')

    def reaches(self, unit):
        """What a unit includes, itself or by way of helpers: {unit: [arrow, ...]}."""
        found, way = {}, [(unit, [])]
        while way:
            at, arrows = way.pop()
            for arrow in self.of[at]:
                if arrow[1] in found:
                    continue
                found[arrow[1]] = arrows + [arrow]
                if self.is_helper(arrow[1]):
                    way.append((arrow[1], arrows + [arrow]))
        return found

    def is_allowed(self, unit, target):
        """Judged by the first picture in which they are in different rooms."""
        for (part, room), (_, below) in zip(self.rooms_of(unit), self.rooms_of(target)):
            if not room or not below:
                return True
            if room != below:
                return (part != 'the tree' and unit.endswith('_test')
                        or self.picture.parts[part].allows(room, below))
        return True

    def wrong_arrows(self):
        """(unit, unit): how it comes to include that."""
        self.of = {unit: [] for unit in self.units.values()}
        for arrow in sorted(self.arrows):
            self.of[arrow[0]].append(arrow)
        wrong = {}
        for unit in sorted(self.of):
            itself_alone = self.is_helper(unit) and not unit.endswith('_test')
            for target, way in ({a[1]: [a] for a in self.of[unit]} if itself_alone
                                else self.reaches(unit)).items():
                if not self.is_allowed(unit, target):
                    wrong[unit, target] = way
        return wrong

    def say(self, way):
        return ', and '.join('{}:{} includes {}'.format(*self.arrows[arrow]) for arrow in way)


def circle_through(arrow, arrows):
    """The shortest way back from an arrow's end to its beginning, with it in front; or None."""
    of, before, line = {}, {arrow[1]: None}, [arrow[1]]
    for one, other in arrows:
        of.setdefault(one, []).append(other)
    for at in line:
        if at == arrow[0]:
            way = []
            while before[at]:
                way.insert(0, (before[at], at))
                at = before[at]
            return [arrow] + way
        for other in sorted(of.get(at, ())):
            if other not in before:
                before[other] = at
                line.append(other)
    return None


def circles_of(arrows):
    """One circle after the other, each cut at the arrow it was found by."""
    left = set(arrows)
    while True:
        # Whoever nobody includes, or who includes nobody, is in no circle.
        while True:
            ends = {a for a, _ in left} & {b for _, b in left}
            inner = {arrow for arrow in left if arrow[0] in ends and arrow[1] in ends}
            if inner == left:
                break
            left = inner
        circle = next((found for found in (circle_through(arrow, left) for arrow in sorted(left))
                       if found), None)
        if not circle:
            return
        yield circle
        left -= set(circle)


def main(top):
    picture = Picture(os.path.join(top, 'docs/architecture.md'))
    tree = Tree(top, picture)
    tree.check_rooms()
    wrong = tree.wrong_arrows()
    excepted = tree.exceptions()
    faults = picture.faults + tree.faults
    for arrow in sorted(set(wrong) - set(excepted)):
        faults.append(f'{tree.say(wrong[arrow])}: against the order of the rooms')
    for circle in circles_of(set(tree.arrows) - set(excepted)):
        faults.append(f'a circle: {tree.say(circle)}')
    for arrow, named in sorted(excepted.items()):
        rest = set(tree.arrows) - (set(excepted) - {arrow})
        if arrow not in wrong and (arrow not in rest or not circle_through(arrow, rest)):
            faults.append(f'the exception {named} is not needed any more: take it out')
    for fault in faults:
        print(fault)
    if faults:
        print('docs/architecture.md, "Rooms", has the order of the rooms and the exceptions from it')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
