#!/bin/bash
# json, tsv and tsv-edges are as docs/profile.schema.json says, and name functions and calls as other
# tools do: by build-id and by the address that `instrument --list` has.
# needs: g++ binutils gawk python3-jsonschema
. "$(dirname "$0")/lib.sh"

cat >check.py <<'END'
import csv, json, subprocess, sys
import jsonschema

schema_path, program, *names = sys.argv[1:]
schema = json.load(open(schema_path))
profile = json.load(open("json"))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.Draft202012Validator(schema).validate(profile)

def table(path, row_schema):
    rows = list(csv.DictReader(open(path, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
    check = jsonschema.Draft202012Validator({**schema["$defs"][row_schema], "$defs": schema["$defs"]})
    assert rows, path
    for row in rows:
        assert None not in row and None not in row.values(), row
        check.validate(row)
    return rows

functions, edges = table("tsv", "functions_row"), table("tsv-edges", "edges_row")

# As others say it. listed: address, size, state, how, name
listed = {row[0]: row for row in map(str.rstrip, open("listed")) for row in [row.split("\t")]}
build_id = open("build-id").read().strip()
returns = set(open("returns").read().split()) # behind call instructions
behind = {int(text, 16) for text in returns}
own = [f for f in profile["functions"] if f["module"] and f["module"].endswith("/" + program)]
assert len(own) > 4, own
for function in own:
    assert function["build_id"] == build_id, function
    row = listed[function["address"]]
    assert function["size"] == (int(row[1]) or None), (function, row)
    if function["symbol"]:
        assert not function["symbol"].startswith("_Z") or function["name"] == subprocess.run(
            ["c++filt", function["symbol"]], capture_output=True, text=True).stdout.strip(), function
if names == ["stripped"]:
    assert not any(f["symbol"] for f in own)
else:
    assert "_ZN5space4leafEi" in [f["symbol"] for f in own]

# Each call once, and where a call is.
for part in profile["parts"]:
    keys = [(e["caller"], e["callee"], e["return_address"]) for e in part["edges"]]
    assert len(keys) == len(set(keys)), "an edge twice"
    for edge in part["edges"]:
        caller = profile["functions"][edge["caller"]]
        if edge["return_address"] and caller in own:
            assert int(edge["return_address"], 16) in behind, edge
            at = int(edge["return_address"], 16) - int(caller["address"], 16)
            assert not caller["size"] or 0 < at <= caller["size"], (edge, caller)
assert any(e["return_address"] for part in profile["parts"] for e in part["edges"])
keys = [tuple(row[k] for k in ("pid", "tid", "thread", "caller_build_id", "caller_address", "caller",
        "callee_build_id", "callee_address", "callee", "return_address")) for row in edges]
assert len(keys) == len(set(keys)), "an edge twice"

# The tables say the same.
number = {id(f): i for i, f in enumerate(profile["functions"])}
assert {(r["symbol"], r["build_id"], r["address"], r["offset"], r["size"]) for r in functions} == {
    tuple(str(f[k] if f[k] is not None else "") for k in ("symbol", "build_id", "address", "offset", "size"))
    for part in profile["parts"] for f in [profile["functions"][c["function"]] for c in part["functions"]]}
assert {r["return_address"] for r in edges} == {
    e["return_address"] or "" for part in profile["parts"] for e in part["edges"]}
END

# checked NAME [stripped]
checked()
{
    local name=$1
    recorded "$name" 20 5
    for format in json tsv tsv-edges; do
        grinder --mode=profile --output-format="$format" --output-file="$format" traces
    done
    instrument --list "native/$name" >listed
    readelf -n "native/$name" | sed -n 's/.*Build ID: //p' >build-id
    objdump -d --no-show-raw-insn "native/$name" | gawk '
        was_call && $1 ~ /^[0-9a-f]+:$/ { print "0x" substr($1, 1, length($1) - 1) }
        $1 ~ /^[0-9a-f]+:$/ { was_call = $2 ~ /call/ }' >returns
    /usr/bin/python3 check.py "$TESTS/../docs/profile.schema.json" "$@" || fail "$*: see above"
    grinder --mode=profile --merge --output-format=json --output-file=json traces
    /usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open("json")))' \
        "$TESTS/../docs/profile.schema.json"
}

build formats formats.cpp -O1 -Wl,--build-id
instrumented formats
checked formats

# One at a fixed address, whose address in the file is another; and without symbols.
build fixed formats.cpp -O1 -no-pie -Wl,--build-id -Wl,-z,separate-code
instrumented fixed
checked fixed
cp native/fixed native/bare
strip native/bare
instrumented bare
checked bare stripped
