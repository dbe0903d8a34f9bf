#!/bin/bash
# Programs whose functions are copied and whose originals are overwritten, so that whatever still runs one ends
# by SIGTRAP: compilers, interpreters, and other programs with large tables of jumps. Each is given something
# to do and prints and ends as natively; no recording is needed for that. PROGRAMS chooses some of them.
# needs: perl gawk git vim ruby php-cli ocaml-nox erlang-base shellcheck ffmpeg qemu-utils postgresql qt5-qmake-bin gcc g++ clang-14 rustc
. "$(dirname "$0")/../lib.sh"
: "${PROGRAMS:=perl gawk git vim ruby php ocaml erlang shellcheck ffmpeg qemu_img postgres qmake gcc clang rustc}"

cc1=$(dirname "$(gcc -print-prog-name=cc1)")
server=$(echo /usr/lib/postgresql/*/bin/postgres)
erts=$(echo /usr/lib/erlang/erts-*/bin)
driver=$(echo /usr/lib/x86_64-linux-gnu/librustc_driver-*.so)

# What is instrumented for each, and what it is then asked to do, in a folder with these files in bin/ and lib/.
files_perl=/usr/bin/perl
do_perl()
{
    perl -e 'my %h; $h{$_ % 1000} .= sprintf "%x", $_ for 1 .. 100000; print length(join "", map { $h{$_} } sort keys %h), "\n";
        eval { die { code => 7 } }; print $@->{code}, "\n"; $_ = "aXbXc" x 999; s/(?<l>[a-c])X/$+{l}-/g; print length, "\n";
        local $SIG{ALRM} = sub { print "alarm\n" }; kill ALRM => $$; print join(",", unpack "C*", pack "w/a", "abc"), "\n"'
    perl -MList::Util=sum -MData::Dumper -e '$Data::Dumper::Sortkeys = 1; print Dumper({map { $_ => [sum 1 .. $_] } 1 .. 9}); format STDOUT =
@<<< @>>>
$a, $b
.
($a, $b) = (1, 2); write'
}
files_gawk=/usr/bin/gawk
do_gawk()
{
    seq 100000 | gawk '{ n[$1 % 97] += $1; gsub(/1/, "x"); l += length($0) } END { print l; PROCINFO["sorted_in"] = "@val_num_desc"; for (i in n) print i, n[i] }'
    gawk 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) } BEGIN { print f(20), strftime("%F", 0, 1), sprintf("%5.2e|%-9s|%c", 3.14159, "x", 65), toupper(substr("hello", 2, 3)), match("foobar", /o+/), and(12, 10), split("a:b:c", p, ":"), gensub(/(o+)/, "<\\1>", "g", "foo boo") }'
}
files_git=/usr/bin/git
do_git()
{
    export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='1 Jan 2020 00:00:00 +0000' GIT_COMMITTER_DATE='1 Jan 2020 00:00:00 +0000'
    rm -rf repository
    git init -q -b main repository
    git config --global user.name a
    git config --global user.email a@b
    for i in 1 2 3 4 5 6 7 8; do
        seq "$i" 400 >"repository/file$((i % 3))"
        git -C repository add .
        git -C repository commit -q -m "change $i"
    done
    git -C repository checkout -q -b side HEAD~3
    echo side >repository/side
    git -C repository add .
    git -C repository commit -q -m side
    git -C repository merge -q -m merged main
    git -C repository log -p --stat --graph
    git -C repository blame file1
    git -C repository grep -n '^7[0-9]$'
    git -C repository diff --word-diff HEAD~1
    git -C repository gc -q --aggressive
    git -C repository fsck --strict
    git -C repository archive HEAD | cksum
}
files_vim=/usr/bin/vim.basic
do_vim()
{
    seq 5000 >edited
    vim.basic -Nu NONE -i NONE -n -es -c '%s/1/AAA/g' -c 'g/7$/normal dd' -c 'sort! n' -c 'let x = map(range(99), {i, v -> v * v})' \
        -c 'call append(0, json_encode(x))' -c 'syntax on' -c 'normal gg=Gyyp' -c 'wq' edited </dev/null
    cksum <edited
}
files_ruby='/usr/bin/ruby libruby-3.1.so.3.1'
do_ruby()
{
    ruby -e 'h = Hash.new(0); 60_000.times { |i| h[(i * i).to_s[-2..]] += 1 }; p h.size; GC.start
        p (catch(:x) { 10.times { |i| throw :x, i if i == 5 } }); p Thread.new { (1..500).reduce(:*).to_s.size }.value
        p (begin; Integer("x"); rescue ArgumentError => e; e.message; end); f = Fiber.new { 3.times { |i| Fiber.yield i } }; p f.resume, f.resume
        case [1, [2, {a: 3}]]
        in [Integer => x, [y, {a:}]] then p [x, y, a] end; p "héllo wörld".unicode_normalize(:nfd).bytes.sum, [3, 1, 2].pack("NnC"), 12345678901234567890 ** 9 % 97'
}
files_php=/usr/bin/php8.2
do_php()
{
    php8.2 -n -r '$a = []; for ($i = 0; $i < 100000; $i++) $a[$i % 1000] = md5($i . ($a[$i % 1000] ?? "")); echo md5(implode($a)), "\n";
        try { throw new Exception("x"); } catch (Exception $e) { echo $e->getMessage(), "\n"; } finally { echo "done\n"; }
        function g($n) { for ($i = 0; $i < $n; $i++) $x = yield $i => $i ** 2; return 7; } foreach (g(5) as $k => $v) echo "$k $v,";
        echo preg_replace_callback("/\d+/", fn($m) => $m[0] * 2, "a1b22"), json_encode(["a" => [1, 2.5, null, "é"]]), serialize(new ArrayObject([1, 2])), match(true) { 1 > 2 => "a", default => "b" }, date("Y-m-d", 86400), "\n";
        class P { public function __get($n) { return $n . "!"; } } echo (new P)->foo, sprintf("%05.1f|%x", 3.14159, 255), str_pad("x", 9, "ab", STR_PAD_BOTH), "\n"; var_dump(unserialize("a:1:{i:0;d:0.5;}"), hash("sha256", "x"));'
}
files_ocaml='./collect /usr/bin/ocamlrun /usr/bin/ocamlopt.opt'
do_ocaml()
{
    ./bin/collect
    ocamlrun "$(command -v ocaml)" ../collect.ml
    cp ../collect.ml . && ocamlopt.opt -S -c collect.ml && cksum collect.s
}
files_erlang="$erts/beam.smp"
do_erlang()
{
    for file in "$erts"/*; do [[ -e bin/${file##*/} ]] || ln -s "$file" bin/; done
    ROOTDIR=/usr/lib/erlang BINDIR=$PWD/bin EMU=beam PROGNAME=erl HOME=$PWD bin/erlexec -noshell -eval 'P = self(), [spawn(fun() -> P ! lists:sum(lists:seq(1, N)) end) || N <- lists:seq(1, 2000)],
        io:format("~p~n", [lists:sum([receive X -> X end || _ <- lists:seq(1, 2000)])]), io:format("~p~n", [catch throw(x)]), io:format("~p ~s~n", [erlang:phash2({a, 1.5, <<"x">>}), float_to_list(1.0e10)]),
        io:format("~p~n", [re:run("foo bar baz", "b(a.)", [global, {capture, all, list}])]), T = ets:new(t, [ordered_set]), [ets:insert(T, {X, X * X}) || X <- lists:seq(1, 999)], io:format("~p~n", [ets:foldl(fun({_, V}, A) -> V + A end, 0, T)]), halt(0).'
}
files_shellcheck=/usr/bin/shellcheck
do_shellcheck()
{
    printf 'for f in $(ls *.txt); do\n  [ $f == "x" ] && echo $f | grep "a*"\ndone\ncase $1 in\n a) rm -rf $2/*;;\nesac\n' >script.sh
    shellcheck -s bash script.sh
    shellcheck -s sh -f json1 script.sh | cksum
}
files_ffmpeg='/usr/bin/ffmpeg libavcodec.so.59 libavfilter.so.8 libavformat.so.59 libavutil.so.57 libswscale.so.6'
do_ffmpeg()
{
    ffmpeg -nostdin -v error -f lavfi -i testsrc=size=320x240:rate=25:duration=2 -threads 2 -c:v mpeg4 -bitexact -f framemd5 - | cksum
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=160x120:rate=10:duration=2 -f lavfi -i sine=duration=2 -c:v mjpeg -c:a flac -bitexact film.mkv
    ffmpeg -nostdin -v error -i film.mkv -vf scale=80:60,hue=s=0 -bitexact -f framemd5 - | cksum
}
files_qemu_img=/usr/bin/qemu-img
do_qemu_img()
{
    seq 300000 >raw
    qemu-img convert -f raw -O qcow2 -c raw q.qcow2
    qemu-img convert -f qcow2 -O vmdk q.qcow2 v.vmdk
    qemu-img compare v.vmdk q.qcow2
    qemu-img check q.qcow2
    qemu-img snapshot -c one q.qcow2
    qemu-img resize q.qcow2 +1M
    qemu-img info --output=json q.qcow2 | grep -v -e date -e actual-size -e clock
}
files_postgres=$server
do_postgres()
{
    local as=()
    ((EUID == 0)) && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    rm -rf cluster
    mkdir cluster
    ((EUID == 0)) && chown 65534 cluster
    "${as[@]}" "${server%/*}/initdb" -D cluster -A trust -U me --no-sync >/dev/null 2>&1
    "${as[@]}" bin/postgres --single -D "$PWD/cluster" -c fsync=off -c log_min_messages=fatal postgres <<'END'
create table t as select i, md5(i::text) m from generate_series(1, 20000) i
create index on t(m)
analyze t
select count(*), max(m), avg(length(m))::numeric(9, 3) from t where m like 'a%'
select sum(a.i) from t a join t b on a.m = b.m where b.i % 7 = 3
with recursive n(i) as (select 1 union all select i + 1 from n where i < 99) select sum(i), string_agg(i::text, ',' order by i desc) from n
select to_char(date '2020-02-29' + interval '1 year', 'Day DD Mon YYYY'), jsonb_path_query('{"a": [1, 2, 3]}', '$.a[*] ? (@ > 1)'), regexp_replace('foobar', '(o+)', '<\1>'), 10.0 ^ 30 / 7
select rank() over (partition by i % 3 order by m), lag(i) over (order by i) from t where i < 9
vacuum full t
END
}
files_qmake=/usr/lib/qt5/bin/qmake
do_qmake()
{
    printf 'TEMPLATE = app\nA = c b a\nA = $$sorted(A)\nmessage($$A $$upper(x) $$replace(A, b, z) $$split(A, " "))\nfor(i, 1..9): B += $$num_add($$i, 3)\nmessage($$B)\ncontains(A, b): message(has)\n' >p.pro
    qmake -qtconf /dev/null -E -spec linux-g++ p.pro 2>&1
    qmake -query 2>&1 | cksum
}
files_gcc="$cc1/cc1 $cc1/cc1plus"
do_gcc()
{
    for level in -O0 -O2 -O3 '-Os -g'; do
        gcc -B bin/ $level -S -x c "$TESTS/programs/copied.c" -o c.s && grep -v bin/ c.s | cksum
        g++ -B bin/ $level -w -S "$TESTS/programs/exceptions.cpp" -o cpp.s && grep -v bin/ cpp.s | cksum
    done
    echo 'int f( { return x; }' | gcc -B bin/ -fsyntax-only -x c -
}
files_clang='/usr/lib/llvm-14/bin/clang libLLVM-14.so.1 libclang-cpp.so.14'
do_clang()
{
    for level in -O0 -O2 '-O3 -g' '-Os -flto'; do
        bin/clang -resource-dir /usr/lib/llvm-14/lib/clang/14.0.6 $level -w -c "$TESTS/programs/copied.c" -o c.o && cksum <c.o
        bin/clang -resource-dir /usr/lib/llvm-14/lib/clang/14.0.6 --driver-mode=g++ $level -w -c "$TESTS/programs/exceptions.cpp" -o cpp.o && cksum <cpp.o
    done
    echo 'int f( { return x; }' | bin/clang -fsyntax-only -x c -
}
files_rustc="/usr/bin/rustc ${driver##*/} libLLVM-14.so.1"
do_rustc()
{
    local source
    for source in "$TESTS"/programs/*.rs ../match.rs; do
        rustc --sysroot=/usr --edition=2021 -O --emit=asm,mir -A warnings "$source" -o out && cat out* | cksum
        rustc --sysroot=/usr --edition=2021 --emit=obj -g -A warnings "$source" -o out.o && cksum <out.o
    done
    echo 'fn main() { let x: u8 = "a"; match x { 1 => (), } }' >wrong.rs
    rustc --sysroot=/usr wrong.rs
}

cat >collect.ml <<'END'
exception Found of int
type tree = Leaf | Node of tree * tree
let rec tree d = if d = 0 then Leaf else Node (tree (d - 1), tree (d - 1))
let rec size t = match t with Leaf -> 1 | Node (a, b) -> size a + size b
let rec deep n = if n = 0 then raise (Found 7) else 1 + deep (n - 1)
let () =
  for _ = 1 to 20 do Printf.printf "%d " (size (tree 14)) done;
  Gc.compact ();
  (try ignore (deep 1000) with Found n -> Printf.printf "found %d\n" n);
  Printf.printf "%d %.3f\n" (String.length (String.concat "," (List.init 100000 string_of_int))) (sin 1.0)
END
cat >match.rs <<'END'
use std::{collections::BTreeMap, fmt};
#[derive(Debug, Clone, PartialEq)]
enum Token { Number(f64), Plus, Minus, Times, Open, Close }
#[derive(Debug)]
enum Problem { Unknown(char), End }
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self { Problem::Unknown(c) => write!(f, "unknown {c:?}"), Problem::End => write!(f, "end") }
    }
}
fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| Ok(match c {
        '0'..='9' => Token::Number(c as u32 as f64 - 48.0),
        '+' => Token::Plus, '-' => Token::Minus, '*' => Token::Times, '(' => Token::Open, ')' => Token::Close,
        _ => return Err(Problem::Unknown(c)),
    })).collect()
}
fn value(tokens: &[Token], at: &mut usize) -> Result<f64, Problem> {
    let mut left = match tokens.get(*at).ok_or(Problem::End)? {
        Token::Number(n) => { *at += 1; *n }
        Token::Open => { *at += 1; let v = value(tokens, at)?; *at += 1; v }
        Token::Minus => { *at += 1; -value(tokens, at)? }
        _ => return Err(Problem::End),
    };
    while let Some(t @ (Token::Plus | Token::Minus | Token::Times)) = tokens.get(*at) {
        *at += 1;
        let right = value(tokens, at)?;
        left = match t { Token::Plus => left + right, Token::Minus => left - right, _ => left * right };
    }
    Ok(left)
}
macro_rules! map { ($($k:expr => $v:expr),*) => {{ let mut m = BTreeMap::new(); $(m.insert($k, $v);)* m }} }
fn main() {
    let m = map!["a" => "1+2*(3-4)", "b" => "2$", "c" => "-(5"];
    for (k, text) in &m {
        match tokens(text).and_then(|t| value(&t, &mut 0)) { Ok(v) => println!("{k} {v}"), Err(p) => println!("{k} {p}") }
    }
    let f = async { 1 }; drop(f);
    let s: u64 = (1..100u64).filter(|x| x & 1 == 1).map(|x| x.wrapping_pow(3)).sum();
    println!("{s} {:?}", m.keys().rev().collect::<Vec<_>>());
}
END
[[ " $PROGRAMS " == *" ocaml "* ]] && ocamlopt -o collect collect.ml 2>/dev/null

# use FILE…: each in native/bin or lib, and, instrumented, in instrumented/bin or lib
use()
{
    local file from folder
    rm -rf native instrumented
    mkdir -p {native,instrumented}/{bin,lib}
    for file; do
        folder=bin
        [[ $file == *.so* ]] && folder=lib
        from=$file
        [[ $folder == bin ]] || from=/usr/lib/x86_64-linux-gnu/$file
        cp "$from" "native/$folder/${file##*/}"
        instrument "$(realpath "$from")" -o "instrumented/$folder/${file##*/}" --how=copy --poison
    done
}

# same_work NAME: in a folder of the same path, which objects with debug information tell
same_work()
{
    local body folder part
    body=$(declare -p TESTS server erts; declare -f "do_$1"; echo "do_$1")
    LIMIT=600
    for folder in native instrumented; do
        mv "$folder" here
        run here env PATH="$work/here/bin:/usr/bin:/bin:/usr/sbin" LD_LIBRARY_PATH="$work/here/lib" bash -c "$body"
        mv here "$folder"
        for part in stdout stderr status; do mv "here.$part" "$folder.$part"; done
    done
    [[ -s native.stdout ]] || { cat native.stderr >&2; fail "$1 did nothing natively"; }
    compare_runs "$1"
}

# Where two native runs would differ.
normalise()
{
    sed -i -E 's/(line 1: +)[0-9]+ /\1/' "$1"
}

chmod 755 "$work" # postgres refuses to be root
result=0
for program in $PROGRAMS; do
    files=files_$program
    if (
        # shellcheck disable=SC2086
        use ${!files}
        same_work "$program"
    ); then
        echo "$program: $(wc -l <native.stdout) lines as natively, status $(<native.status)"
    else
        result=1
        echo "$program: differs"
    fi
done
((result == 0)) || fail "see above"
