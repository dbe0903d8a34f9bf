# Names and lines of Windows programs as real compilers leave them: mingw's COFF symbols and DWARF,
# also in a separate debug file, and the PDBs of clang and lld. The judges are objdump and
# llvm-pdbutil. The images are given a manifest by windows_sample in place of instrument.
# needs: g++-mingw-w64-x86-64 binutils-mingw-w64-x86-64 clang lld llvm
. "$(dirname "$0")/lib.sh"
source=$TESTS/programs/windows_symbols.cpp
mingw=x86_64-w64-mingw32

# grind IMAGE RVA…: a trace in which these functions of IMAGE, instrumented, call each other, and the
# last one what SLOT leads to; leaves callgrind and problems.
grind()
{
    local image=$1
    shift
    "$BUILD/grinder/windows_sample" "$image" "instr-$image" trace.bin "Z:$work\\instr-$image" "$@" \
        "${SLOT:-0}"
    grinder --mode=profile --output-file=callgrind trace.bin 2>problems
}

# Prints of each function of callgrind its name without arguments and the line of its entry, where
# there is one. A name is written once and known by its number from then on.
entries()
{
    awk '
        /^c?fn=/ {
            match($0, /\([0-9]+\)/)
            number = substr($0, RSTART, RLENGTH)
            if (length($0) >= RSTART + RLENGTH)
                names[number] = substr($0, RSTART + RLENGTH + 1)
        }
        /^fn=/ { name = names[number]; sub(/\(.*/, "", name); wanted = 1 }
        /^[0-9]/ && wanted { if ($1) print name, $1; wanted = 0 }
    ' callgrind | sort
}

# Prints what `entries` should.
entries_in_source()
{
    grep -n 'entry of [^"]*$' "$source" | sed 's/^\([0-9]*\):.*entry of \(.*\)/\2 \1/' | grep -v NAME |
        sort
}

# The RVAs of the four functions: objdump gives a symbol's place in .text.
rvas_of_mingw()
{
    local text
    text=$((0x$("$mingw-objdump" -h "$1" | awk '$2 == ".text" { print $4 }') -
        0x$("$mingw-objdump" -p "$1" | awk '$1 == "ImageBase" { print $2 }')))
    "$mingw-objdump" -t "$1" | awk '$NF ~ /^(_ZN5outer5inner6methodEi|_ZL6hiddeni|visible|start)$/ {
        print $(NF - 1) }' | while read -r place; do printf '0x%x ' $((text + place)); done
}

"$mingw-g++" -O1 -g -fno-exceptions -nostdlib -Wl,--entry=start "$source" \
    -lkernel32 -o mingw.exe
read -ra rvas <<<"$(rvas_of_mingw mingw.exe)"
equal "functions objdump knows" ${#rvas[@]} 4
SLOT=$("$mingw-objdump" -p mingw.exe | awk '/^ [0-9a-f]+\t/ { if (!found++) print "0x" $6 }')
grind mingw.exe "${rvas[@]}"
equal "mingw's names and lines" "$(entries)" "$(entries_in_source)"
contains callgrind 'fn=.* KERNEL32\.dll!Sleep$'
equal "problems with mingw" "$(<problems)" ""

# The debug file lies beside the original only, and the instrumented image is elsewhere.
mkdir original
"$mingw-objcopy" --only-keep-debug mingw.exe original/mingw.debug
(cd original && "$mingw-objcopy" --strip-all --add-gnu-debuglink=mingw.debug ../mingw.exe stripped.exe)
"$BUILD/grinder/windows_sample" "$work/original/stripped.exe" elsewhere.exe trace.bin \
    "z:${work//\//\\}\\ELSEWHERE.exe" "${rvas[@]}" 0
grinder --mode=profile --output-file=callgrind trace.bin
equal "the debug file's names and lines" "$(entries)" "$(entries_in_source)"

# Without it, what is exported has a name; the rest is called by module and RVA.
rm original/mingw.debug
grinder --mode=profile --output-file=callgrind trace.bin
contains callgrind 'fn=.* visible$'
equal "functions by RVA" "$(grep -c 'fn=.*ELSEWHERE\.exe!0x1[0-9a-f]*$' callgrind)" 3

# Under another path, --path-map says where.
mkdir moved
mv elsewhere.exe moved/
grinder --mode=profile --output-file=callgrind trace.bin 2>problems
contains problems 'ELSEWHERE\.exe: .*its functions are shown by number'
grinder --mode=profile --output-file=callgrind --path-map="Z:${work//\//\\}=$work/moved" trace.bin
contains callgrind 'fn=.* visible$'

# The RVAs of all procedures, in .text, which lies at 0x1000.
rvas_of_msvc()
{
    llvm-pdbutil dump --symbols "$1" | awk '
        /S_[GL]PROC32/ { wanted = 1 }
        wanted && match($0, /0001:[0-9]+/) {
            printf "%d ", 4096 + substr($0, RSTART + 5, RLENGTH - 5)
            wanted = 0
        }'
}

# Prints what `entries` should by llvm-pdbutil: of a procedure's address, the first line.
entries_in_pdb()
{
    { llvm-pdbutil dump -l "$1"; llvm-pdbutil dump --symbols "$1"; } | awk '
        /^ +[0-9]+ [0-9A-F]+ !/ {
            for (i = 1; i < NF; i++)
                if ($i ~ /^[0-9]+$/ && $(i + 1) ~ /^[0-9A-F]+$/ && length($(i + 1)) == 8) {
                    if (!($(i + 1) in lines))
                        lines[$(i + 1)] = $i
                    i++
                }
        }
        /S_[GL]PROC32/ { name = $NF; gsub(/`/, "", name) }
        name && match($0, /0001:[0-9]+/) {
            print name, lines[sprintf("%08X", substr($0, RSTART + 5, RLENGTH - 5) + 0)]
            name = ""
        }' | sort
}

# A PDB: every procedure that llvm-pdbutil knows.
clang++ --target=x86_64-pc-windows-msvc -O1 -g -gcodeview -fno-exceptions -c "$source" -o msvc.obj
lld-link /debug /nodefaultlib /entry:start /subsystem:console msvc.obj /out:msvc.exe
read -ra rvas <<<"$(rvas_of_msvc msvc.pdb)"
equal "procedures llvm-pdbutil knows" ${#rvas[@]} 4
grind msvc.exe "${rvas[@]}"
equal "the PDB's names and lines" "$(entries)" "$(entries_in_pdb msvc.pdb)"
contains callgrind "(fl|cfi)=.* $source\$"
equal "problems with the PDB" "$(<problems)" ""

# Many functions.
seq 250 | awk '{ print "__attribute__((noinline)) int f" $1 "(int n)\n{\n    return n * " $1 " + 1;\n}" }
    END { print "int start(void)\n{\n    return 0"; for (i = 1; i <= NR; i++) print "+ f" i "(" i ")"
          print ";\n}" }' >many.c
clang --target=x86_64-pc-windows-msvc -O1 -g -gcodeview -c many.c -o many.obj
lld-link /debug /nodefaultlib /entry:start /subsystem:console many.obj /out:many.exe
read -ra rvas <<<"$(rvas_of_msvc many.pdb)"
equal "procedures llvm-pdbutil knows of many" ${#rvas[@]} 251
grind many.exe "${rvas[@]}"
equal "names and lines of 251 functions" "$(entries)" "$(entries_in_pdb many.pdb)"

# Imports by name and by number, at once and delayed.
cat >imports.c <<'END'
__declspec(dllimport) int named(int);
__declspec(dllimport) int numbered(int);
void *__delayLoadHelper2(const void *descriptor, void **slot) { (void)descriptor; return *slot; }
int start(void) { return named(1) + numbered(2); }
END
printf 'LIBRARY other.dll\nEXPORTS\n    named\n    numbered @9 NONAME\n' >other.def
llvm-dlltool -m i386:x86-64 -d other.def -l other.lib
clang --target=x86_64-pc-windows-msvc -O1 -c imports.c -o imports.obj
for option in /delayload:other.dll /debug; do
    lld-link /nodefaultlib /entry:start /subsystem:console "$option" imports.obj other.lib /out:imports.exe
    slots=$(llvm-readobj --coff-imports imports.exe | awk '/ImportAddressTable(RVA)?:/ { print $2 }')
    SLOT=$slots grind imports.exe 0x1000
    contains callgrind 'fn=.* other\.dll!named$'
    SLOT=$((slots + 8)) grind imports.exe 0x1000
    contains callgrind 'fn=.* other\.dll!ordinal9$'
done

# Another build's PDB is told and not used.
clang++ --target=x86_64-pc-windows-msvc -O1 -g -gcodeview -fno-exceptions -DOTHER -c "$source" -o msvc.obj
lld-link /debug /nodefaultlib /entry:visible /subsystem:console msvc.obj /out:other.exe
mv other.pdb msvc.pdb
grind msvc.exe 0x1000
contains problems 'msvc\.pdb: is of another build: expected [0-9A-F]+1, found [0-9A-F]+1'
contains callgrind 'fn=.*instr-msvc\.exe!0x140001000$'

# What stripping took away from the instrumented image is in the original.
"$BUILD/grinder/windows_sample" "$work/mingw.exe" instr.exe trace.bin "Z:$work\\instr.exe" \
    "$(rvas_of_mingw mingw.exe | cut -d ' ' -f 1)" 0
"$mingw-objcopy" --strip-all instr.exe
grinder --mode=profile --output-file=callgrind trace.bin
contains callgrind '(fl|cfi)=.*windows_symbols\.cpp$'
echo >>mingw.exe
grinder --mode=profile --output-file=callgrind trace.bin
! grep -q 'windows_symbols\.cpp' callgrind || fail "a changed original lends lines"

# Damaged DWARF costs lines, not names.
"$mingw-g++" -O1 -g -fno-exceptions -nostdlib -Wl,--entry=start "$source" -lkernel32 -o damaged.exe
head -c 100000 /dev/zero | tr '\0' '\377' >noise
"$mingw-objcopy" --update-section .debug_line=noise --update-section .debug_abbrev=noise damaged.exe
read -ra rvas <<<"$(rvas_of_mingw damaged.exe)"
grind damaged.exe "${rvas[@]}"
contains callgrind 'fn=.* outer::inner::method\(int\)$'
equal "lines of damaged DWARF" "$(entries)" ""
