"""Strict readers of what grinder and service write of names that hold anything."""

import gzip
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

# What acts on a terminal, begins a line, or shows text in another order.
BAD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")


def text_of(path, allowed=""):
    with open(path, encoding="utf-8", errors="strict", newline="") as file:
        text = file.read()
    bad = [c for c in BAD.findall(text) if c not in allowed]
    assert not bad, (path, bad[:5])
    return text


def plain(*paths):
    for path in paths:
        text_of(path)


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def unique(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)


def loads(text):
    value = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique)
    walk(value)
    return value


def walk(value):
    if isinstance(value, str):
        assert not BAD.search(value.replace("\n", "").replace("\t", "")), repr(value)
        value.encode()  # no halves of UTF-16 pairs
    elif isinstance(value, list):
        for element in value:
            walk(element)
    elif isinstance(value, dict):
        for key, element in value.items():
            walk(key)
            walk(element)


def json_(path):
    return loads(text_of(path))


def speedscope(path):
    data = json_(path)
    assert all(isinstance(frame["name"], str) for frame in data["shared"]["frames"])


def firefox(path):
    for thread in json_(path)["threads"]:
        count = len(thread["stringArray"])
        assert all(0 <= name < count for name in thread["funcTable"]["name"])


def chrome(path):
    for event in json_(path)["traceEvents"]:
        assert event["ph"] in "BEIM"


def cells_of(path):
    lines = text_of(path, "\t").split("\n")
    assert lines.pop() == ""
    rows = [line.split("\t") for line in lines]
    assert {len(row) for row in rows} == {len(rows[0])}, [row for row in rows if len(row) != len(rows[0])][:3]
    return rows


def is_number(cell):
    return re.fullmatch(r"-?\d+", cell)


def tsv(path):
    for row in cells_of(path)[1:]:
        for cell in row:
            assert is_number(cell) or not re.match('[ \xa0]*[=+@"\uff1d\uff0b\uff0d\uff20-]', cell), cell


def cells(path, column, *wanted):
    rows = cells_of(path)
    found = {row[rows[0].index(column)] for row in rows}
    assert found >= set(wanted), set(wanted) - found


def folded(path, figures=1):
    for line in text_of(path).split("\n")[:-1]:
        frames = line.rsplit(" ", figures)
        assert len(frames) == figures + 1 and all(map(is_number, frames[1:])), line
        assert frames[0].count(";") < 10, line  # main, and what it calls


def folded2(path):
    folded(path, 2)


def flamegraph(path):
    text_of(path)
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    scripts = [element for element in root.iter() if element.tag.lower().endswith("script")]
    assert len(scripts) == 1
    for element in root.iter():
        assert not [name for name in element.keys() if name.lower().startswith("on")], element.attrib


def callgrind(path):
    """As KCachegrind reads it: each line is of a known kind; a number stands for one name."""
    names, lines = {}, text_of(path).split("\n")
    assert lines[0] == "# callgrind format"
    for line in lines[1:]:
        if re.match("(part|pid|thread): ", line):
            names = {}
        name = re.fullmatch(r"(c?fn|c?ob|fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?", line)
        if name:
            key = (name[1].lstrip("c")[:2].replace("fi", "fl").replace("fe", "fl"), name[2])
            assert (name[3] is None) == (key in names) or names.get(key) == name[3], line
            names.setdefault(key, name[3])
            continue
        assert re.fullmatch(r"|(version|creator|pid|cmd|part|thread|desc|positions|events|summary|totals|event): .*"
                            r"|calls=\d+ \d+|[+-]?\d+( \d+)+|\* .*|\d+", line), line


def protobuf(schema, message, data):
    return subprocess.run(["protoc", f"--decode={message}", f"--proto_path={os.path.dirname(schema) or '.'}",
                           os.path.basename(schema)], input=data, capture_output=True, check=True).stdout


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert key & 7 == 2, key
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            assert len(value) == length
        yield key >> 3, value


def pprof(path):
    with gzip.open(path) as file:
        strings = [value.decode() for number, value in fields(file.read()) if number == 6]
    assert strings[0] == "" and len(strings) > 10
    walk(strings)


TEXTS = {  # of perfetto's messages: field -> what is in it; None is text
    "trace": {1: "packet"}, "packet": {11: "event", 12: "interned", 60: "track"},
    "event": {23: None, 4: "annotation"}, "annotation": {10: None, 6: None}, "interned": {2: "name"},
    "name": {2: None}, "track": {2: None, 3: "process", 4: "thread"}, "process": {6: None}, "thread": {5: None},
}


def texts(kind, data):
    for number, value in fields(data):
        if number not in TEXTS[kind]:
            continue
        inner = TEXTS[kind][number]
        if inner:
            yield from texts(inner, value)
        else:
            yield value.decode()


def perfetto(path):
    with open(path, "rb") as file:
        found = list(texts("trace", file.read()))
    assert len(found) > 10
    walk(found)


def report(path):
    page = text_of(path)
    found = dict(re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script', page, re.S | re.I))
    assert page.lower().count("<script") == len(found) + 2, "the page's scripts are not its own"
    for text in found.values():
        loads(text)
    assert [name for name in found if name[0] == "s"], "no source is in it"


kinds = {"tsv-edges": tsv, "json": json_}
name = sys.argv[1]
(kinds.get(name) or globals()[name])(*sys.argv[2:])
