#!/bin/bash
# --list --summary adds up what --list has, --json has the same; functions without a name are chosen by
# address, or by the names of a separate debug file.
# needs: gcc binutils python3
. "$(dirname "$0")/lib.sh"

cat >shapes.c <<'END'
__attribute__((noinline)) static int area(int side) { return side * side + 1; }
__attribute__((noinline)) static int edge(int side) { return side * 4 + 3; }
const int run = RUN; /* so that no other run has the same build-id */
int main(int count, char **arguments) { (void)arguments; return area(count) + edge(count) == 0; }
END
gcc -O1 -g -DRUN=$$ -Wl,--build-id=sha1 -o native/shapes shapes.c
instrument --list native/shapes >list
instrument --list --summary native/shapes >summary
equal "the summary's rows" "$(awk -F '\t' 'NR > 1 { n[$3 "\t" $4]++; b[$3 "\t" $4] += $2 }
    END { for (i in n) print i "\t" n[i] "\t" b[i] }' list | sort)" \
    "$(grep -E '^(hooked|skipped)	[a-z]' summary | sort)"
equal "all" "$(sed -n 's/^all\t\t\([0-9]*\)\t.*/\1/p' summary)" "$(($(wc -l <list) - 1))"
instrument --list --json native/shapes >list.json
instrument --list --json --summary native/shapes >summary.json
python3 - <<'END'
import json
head, *rows = [line.rstrip("\n").split("\t") for line in open("list")]
functions = json.load(open("list.json"))
keys = [word.replace(" ", "-") for word in head]
assert [["" if f.get(key) is None else str(f[key]) for key in keys] for f in functions] == rows
assert {key for f in functions for key in f} <= set(keys)
summary = json.load(open("summary.json"))
assert summary["all"]["functions"] == len(rows)
assert summary["hooked"]["functions"] == sum(row[2] == "hooked" for row in rows)
assert sum(reason["bytes"] for reason in summary["reasons"]) == summary["all"]["bytes"]
END

echo '-- copies'
cat >crowd.c <<'END'
__attribute__((noinline)) static int leaf(int n) { return n * 3; }
__attribute__((noinline)) static int calls(int n) { return leaf(n) + leaf(n + 1); }
/* flags are alive where the call returns */
__asm__(".globl odd; .type odd, @function; odd: .cfi_startproc; cmp $1, %edi; nop; nop; call leaf_too; jc 1f; nop; 1: ret; .cfi_endproc;"
    ".size odd, . - odd; .type leaf_too, @function; leaf_too: lea 1(%rdi), %eax; nop; nop; ret; .size leaf_too, . - leaf_too");
int odd(int);
int main(int count, char **arguments) { (void)arguments; return count > 5 ? odd(count) : calls(count) == 0; }
END
gcc -O1 -g -o native/crowd crowd.c
instrument --list --how=copy native/crowd >copies
equal "the header" "$(head -n 1 copies)" "address	size	state	how	name	not copied"
equal "columns" "$(awk -F '\t' '{ print NF }' copies | sort -u)" 6
equal "what is copied has no doubt" "$(awk -F '\t' '$4 == "copied" && $6 != ""' copies)" ""
equal "calls and leaf" "$(awk -F '\t' '$5 == "calls" || $5 == "leaf" { print $4 }' copies | sort -u)" copied
[[ $(awk -F '\t' '$5 == "odd" && $4 != "copied" { print $6 }' copies) ]] || fail "nobody says why odd is not copied"
instrument --list --how=copy --summary native/crowd >summary.copies
equal "reasons not to copy" "$(awk -F '\t' 'NR > 1 && $6 != "" { n[$6]++; b[$6] += $2 }
    END { for (i in n) print "not-copied\t" i "\t" n[i] "\t" b[i] }' copies | sort)" \
    "$(grep '^not-copied' summary.copies | sort)"
instrument --list --how=copy --json native/crowd >copies.json
instrument --list --how=copy --json --summary native/crowd >summary.json
python3 - <<'END'
import json
rows = [line.rstrip("\n").split("\t") for line in open("copies")][1:]
functions = json.load(open("copies.json"))
assert [[f["how"], f.get("not-copied", "")] for f in functions] == [[row[3], row[5]] for row in rows]
summary = json.load(open("summary.json"))
assert sum(reason["bytes"] for reason in summary["reasons"]) == summary["all"]["bytes"]
assert sum(r["functions"] for r in summary["not-copied"]) == sum(row[5] != "" for row in rows)
assert [r["functions"] for r in summary["reasons"] if r["how"] == "copied"] == [sum(row[3] == "copied" for row in rows)]
END
instrument native/crowd -o instrumented/crowd --how=copy >said
instrument --list instrumented/crowd >copies.instrumented
equal "the list of the result" "$(cut -f 1,3-5 copies.instrumented)" "$(cut -f 1,3-5 copies)"
instrument --verify instrumented/crowd >said
contains said "hooked, [0-9]+ bodies copied, "

address_of() { awk -F '\t' -v name="$1" '$5 == name { print $1 }' list; }
area=$(address_of area) edge=$(address_of edge) main=$(address_of main)
size=$(awk -F '\t' '$5 == "area" { print $2 }' list)
strip -o native/bare native/shapes

# excluded OPTION… : addresses of those of the three functions that are
excluded()
{
    instrument --list native/bare "$@" >bare.list 2>said
    equal "what $* says" "$(<said)" ""
    awk -F '\t' -v all="$area $edge $main " '$4 == "excluded" && index(all, $1 " ") { print $1 }' bare.list | tr '\n' ' '
}
equal "one address" "$(excluded --exclude="$area")" "$area "
equal "an address within it" "$(excluded --exclude="$(printf '%#x' $((area + size - 1)))")" "$area "
equal "a range" "$(excluded --exclude="$area-$edge")" "$area "
equal "a range with one out of it" "$(excluded --exclude=0x1-0xffffff --include="$edge")" \
    "$(printf '%s\n' "$area" "$main" | sort | tr '\n' ' ')"
instrument --list native/bare --exclude=0xffffff0 >bare.list 2>said
contains said 'warning: --exclude=0xffffff0 matches nothing'
for wrong in "--exclude=0x20-0x10" "--exclude=0x10-0x10"; do
    status=0
    instrument --list native/bare "$wrong" >bare.list 2>said || status=$?
    equal "status of $wrong" "$status" 2
    contains said 'expected a range that ends behind its beginning, found an empty one'
done

echo '-- names in a debug file'
objcopy --only-keep-debug native/shapes native/shapes.debug
cp native/bare native/linked
(cd native && objcopy --add-gnu-debuglink=shapes.debug linked)
instrument --list native/linked >linked.list
equal "names by .gnu_debuglink" "$(awk -F '\t' '$5 == "area" || $5 == "edge" { print $1 }' linked.list)" \
    "$area
$edge"
instrument native/linked -o linked.instr --exclude=edge >said 2>&1
equal "what is hooked" "$(instrument --list linked.instr | awk -F '\t' -v a="$area" -v b="$edge" '$1 == a || $1 == b { print $3 }')" \
    "hooked
skipped"
printf 'x' >>native/shapes.debug
instrument --list native/linked --exclude=edge >linked.list 2>said
contains said 'warning: --exclude=edge matches nothing' # another file: the CRC differs
if ((EUID == 0)); then
    id=$(readelf -n native/bare | sed -n 's/.*Build ID: //p')
    folder=/usr/lib/debug/.build-id/${id:0:2}
    finish()
    {
        local status=$?
        rm -f "$folder/${id:2}.debug"
        rmdir "$folder" 2>/dev/null || true
        (exit "$status")
        end_of_script
    }
    trap finish EXIT
    mkdir -p "$folder"
    objcopy --only-keep-debug native/shapes "$folder/${id:2}.debug"
    instrument --list native/bare >bare.list
    equal "names by build-id" "$(awk -F '\t' '$5 == "area" { print $1 }' bare.list)" "$area"
fi
for wrong in "--summary native/bare -o out" "--json --verify native/bare"; do
    status=0
    # shellcheck disable=SC2086
    instrument $wrong >said 2>&1 || status=$?
    equal "status of $wrong" "$status" 2
    contains said '--summary and --json are for --list'
done
