#!/bin/bash
# What came of a file, `instrument --result-fd` tells programs; `umbra record` goes by that alone. A result
# that is missing, damaged, hostile or of another version harms nothing: the file runs as it is, and the
# recording says why.
# needs: gcc
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
unset DISPLAY WAYLAND_DISPLAY
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello

# tells STATUS LINES OPTION…: the lines, without version and end
tells()
{
    local status=0
    "$BUILD/rewriter/instrument" --agent="$AGENT" --result-fd=3 "${@:3}" >said 2>&1 3>result || status=$?
    equal "status: $*" "$status" "$1"
    equal "version: $*" "$(head -n 1 result)" umbra-result=1
    equal "end: $*" "$(tail -n 1 result)" end
    equal "${*:3}" "$(sed '1d; $d' result | tr '\n' ' ')" "$2 "
}

echo '-- what is told'
"$BUILD/rewriter/instrument" --list --summary --json hello >summary.json
found=$(sed -n 's/.*"all": {"functions": \([0-9]*\).*/\1/p' summary.json)
hooked=$(sed -n 's/.*"hooked": {"functions": \([0-9]*\).*/\1/p' summary.json)
copied=$(sed -n 's/.*"how": "copied", "functions": \([0-9]*\).*/\1/p' summary.json)
unsafe=$(sed -n 's/.*"no-safe-patch": {"functions": \([0-9]*\).*/\1/p' summary.json)
((hooked > 0 && copied > 0)) || fail "hello has no hooks: $(<summary.json)"
tells 0 "outcome=instrumented reason= text= found=$found hooked=$hooked copied=$copied unsafe=$unsafe" \
    hello -o out
tells 0 "outcome=instrumented reason= text= found=$found hooked=$hooked copied=$copied unsafe=$unsafe \
unmatched=--exclude=no?ne unmatched=--time=nil" \
    hello -o out --overwrite --exclude=$'no\nne' --time=nil
tells 0 "outcome=nothing-to-hook reason=filter text=the filter leaves no function to hook found=$found hooked=0 \
copied=0 unsafe=0" hello -o out --overwrite --exclude='*'
tells 0 'outcome=listed reason= text= unmatched=--include=none' hello --list --include=none
tells 1 'outcome=refused reason=no-image text=expected an ELF program or library for x86-64 or i386, found another kind of file' \
    hello.c -o new
tells 1 'outcome=refused reason=instrumented text=expected an original image, found one that is already instrumented' \
    out -o new
tells 1 'outcome=failed reason=output text=expected a new file, found one that exists; --overwrite replaces it' \
    hello -o out
tells 1 'outcome=failed reason=input text=cannot read it: No such file or directory' missing -o new
tells 1 'outcome=failed reason=input text=cannot read it: No such file or directory' --list missing
cp /bin/true other.so
tells 1 "outcome=failed reason=no-agent text=$work/other.so: expected the agent, found a library without $(
    "$BUILD/rewriter/instrument" --agent="$work/other.so" hello -o new 2>&1 | sed 's/.*without //')" \
    --agent="$work/other.so" hello -o new
mkdir tree
cp hello tree
tells 0 "outcome=instrumented reason= text= found=$found hooked=$hooked copied=$copied unsafe=$unsafe" \
    tree -o new
"$BUILD/rewriter/instrument" --agent="$AGENT" hello -o lost --result-fd=3 3>/dev/full >said 2>&1 &&
    fail 'the result is lost, and nobody is told'
contains said '^instrument: --result-fd: cannot write the result: No space left on device$'
status=0
"$BUILD/rewriter/instrument" hello -o none --result-fd=3 3<hello 2>said || status=$?
equal 'status with a descriptor for reading' "$status" 2

echo '-- that memory ran out, wherever that was'
library=$(ldd hello | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
times=0
for ((memory = 20000; memory < 400000; memory += memory / 16)); do
    status=0
    (ulimit -v $memory && exec "$BUILD/rewriter/instrument" --agent="$AGENT" --no-verify --result-fd=3 --overwrite \
        -o out "$library") >said 2>&1 3>result || status=$?
    ((status != 0)) || break
    ((status == 1)) || continue # it was not loaded
    contains result '^reason=memory$'
    equal 'lines' "$(wc -l <result)" 5
    ! grep -q 'out of memory' result || times=$((times + 1))
done
((status == 0 && times > 0)) || fail "memory was never short ($times), or always (status $status)"

echo '-- what is heard of it'
mkdir -p tools/{front,rewriter,service,grinder,hooks}
cp "$BUILD/front/umbra" tools/front/umbra
cp "$BUILD/service/call_trace_service" tools/service/
ln -s "$BUILD/grinder/grinder" tools/grinder/
cp "$AGENT" tools/hooks/libhooks.so
# Whatever it prints, the file `answer` is its result, and `status` its status; without it, it is instrument.
cat >tools/rewriter/instrument <<END_OF_SCRIPT
#!$BASH
result= out= file="\$(readlink -f "\${!#}")"
for ((i = 1; i <= \$#; i++)); do
    case \${!i} in
        --result-fd=*) result=/dev/fd/\${!i#*=} ;;
        -o) j=\$((i + 1)); out=\${!j} ;;
    esac
done
if [[ ! -e "$work/answer" || \$file != "$work/told" ]]; then exec "$BUILD/rewriter/instrument" "\$@"; fi
[[ ! \$out ]] || cp "\$file" "\$out"
echo "\$out: 9 functions found, 0 hooked, 9 left alone"
echo "instrument: out of memory" >&2
cat "$work/answer" >\$result
exit \$(<"$work/status")
END_OF_SCRIPT
chmod 755 tools/rewriter/instrument

# hears STATE REASON STATUS ANSWER…: the answers are printf's
hears()
{
    echo "$3" >status
    # shellcheck disable=SC2059
    printf "${@:4}" >answer
    cp hello told # another time: not what was remembered
    touch -d "2001-01-01 00:00:$((++tries))" told
    rm -rf told.data
    timeout -k 5 50 tools/front/umbra record -o told.data -- sh -c './told; ./hello' >out 2>said ||
        fail "status $?: $(<said)"
    equal 'what runs' "$(tr '\n' ' ' <out)" 'hello hello '
    contains told.data/files "^$1	$work/told	$2\$"
    contains told.data/files "^instrumented	$work/hello	"
}
tries=0
head='umbra-result=1\noutcome='
done="${head}instrumented\nreason=\ntext=\nfound=9\nhooked=7\ncopied=6\nunsafe=2\nend\n"

hears left 'because' 1 "${head}refused\nreason=go\ntext=because\nend\n"
hears left 'no function in it is to be hooked' 0 \
    "${head}nothing-to-hook\nreason=filter\ntext=\nfound=9\nhooked=0\ncopied=0\nunsafe=2\nend\n"
hears left 'nothing at all' 1 \
    "${head}nothing-to-hook\nreason=no-functions\ntext=nothing at all\nfound=9\nhooked=0\ncopied=0\nunsafe=2\nend\n"
hears left 'lost; it may use 512 MB' 1 "${head}failed\nreason=memory\ntext=lost\nend\n"
hears left 'instrument wrote more than 64 MB' 1 "${head}failed\nreason=size\ntext=lost\nend\n"
hears left 'the cache cannot be written: full' 1 "${head}failed\nreason=output\ntext=full\nend\n"
contains said 'told'
hears left 'LIEF found a fault' 1 "${head}failed\nreason=verification\ntext=LIEF found a fault\nend\n"

ended='instrument ended with status'
hears left "$ended 0: it gave no result" 0 ''
hears left "$ended 1: it gave no result" 1 ''
hears left "$ended 126: it gave no result" 126 ''
hears left "$ended 0: its result was cut, or goes on behind its end" 0 "${done%end\\n}"
hears left "$ended 0: its result is not plain text, or was cut" 0 "${done%\\n}"
hears left "$ended 0: its result has more than 32768 bytes" 0 "${done%end\\n}%040000d" 0
hears left "$ended 0: its result is of another version; install Umbra as a whole" 0 "${done/=1/=2}"
hears left "$ended 0: its result is not plain text, or was cut" 0 "${head}refused\nreason=go\ntext=\033[2J\nend\n"
hears left "$ended 0: its result contradicts that" 0 "${head}refused\nreason=go\ntext=because\nend\n"
hears left "$ended 1: its result contradicts that" 1 "$done"
hears left "$ended 0: its result contradicts itself" 0 "${done/hooked=7/hooked=70}"
# It claims to be done, and what it left is not instrumented: that is looked at, not believed.
hears left 'it changed while it was instrumented' 0 "$done"

echo '-- what the file is, is remembered; what failed is tried again'
# again STATE: of the same file, with the real instrument
again()
{
    rm -rf told.data
    mv answer kept.answer
    tools/front/umbra record --quiet -o told.data -- ./told >out
    contains told.data/files "^$1	$work/told	"
    mv kept.answer answer
}
hears left 'because' 1 "${head}refused\nreason=go\ntext=because\nend\n"
again left
hears left 'because' 1 "${head}failed\nreason=other\ntext=because\nend\n"
again instrumented
hears left "$ended 0: it gave no result" 0 ''
again instrumented

echo '-- patterns that match nothing'
rm answer
rm -rf told.data
tools/front/umbra record -o told.data --exclude=ma?n --exclude=none -- ./told >out 2>said
equal 'patterns' "$(grep matches said)" 'umbra: --exclude=none matches nothing in what was recorded'
