#!/bin/bash
# `umbra record -- PROGRAM`, then `umbra report --text`, for programs that a Debian user has, by root and by an
# ordinary user: each prints and ends as natively, and its traces are whole. Prints processor and wall time
# natively, wall time with an empty cache (first), both with what is in it then, the ratio of wall times, and the
# calls that were recorded. PROGRAMS chooses some of them.
# needs: perl gawk jq gdb vim emacs-nox ffmpeg php-cli ruby r-base-core erlang-base ocaml-nox pandoc nginx-light postgresql make gcc libc6-dev curl
. "$(dirname "$0")/../lib.sh"

umbra=$BUILD/front/umbra
server=$(echo /usr/lib/postgresql/*/bin)
: "${PROGRAMS:=perl gawk jq gdb vim emacs ffmpeg php ruby R erlang ocaml ocamlopt pandoc nginx postgres make}"
: "${RECORD_OPTIONS:=}"

# What each is asked to do, in a folder of its own: a second or so. What it prints is the same each time.
do_perl() { perl -e 'my %h; $h{$_ % 1000} .= sprintf "%x", $_ for 1 .. 300000; print length(join "", map { $h{$_} } sort keys %h), "\n"; eval { die { code => 7 } }; print $@->{code}, "\n"'; }
do_gawk() { seq 300000 | gawk '{ n[$1 % 97] += $1; gsub(/1/, "x"); l += length($0) } END { print l; for (i = 0; i < 97; i++) print n[i] }'; }
do_jq() { seq 60000 | jq -s 'map({a: ., b: (. % 7 | tostring)}) | group_by(.b) | map({key: .[0].b, value: (map(.a) | add)})'; }
do_gdb() { gdb -nx -batch -ex 'break puts' -ex run -ex 'bt 1' -ex 'info registers rip' -ex continue ./hello 2>/dev/null | grep -c hello; }
do_vim() { cp words edited; vim -Nu NONE -i NONE -n -es -c '%s/a/AAA/g' -c 'g/q/normal dd' -c 'sort u' -c 'wq' edited </dev/null; cksum <edited; rm edited; }
do_emacs() { emacs -Q --batch --eval '(progn (dotimes (i 20000) (puthash i (format "%d" (* i i)) (or (bound-and-true-p h) (setq h (make-hash-table))))) (princ (hash-table-count h)) (with-temp-buffer (insert-file-contents "words") (sort-lines nil (point-min) (point-max)) (princ (md5 (current-buffer)))))' 2>/dev/null; }
do_ffmpeg() { ffmpeg -nostdin -v error -f lavfi -i testsrc=size=320x240:rate=25:duration=4 -threads 2 -c:v mpeg4 -bitexact -f framemd5 - | cksum; }
do_php() { php -n -r '$a = []; for ($i = 0; $i < 400000; $i++) $a[$i % 1000] = md5($i . ($a[$i % 1000] ?? "")); echo md5(implode($a)), "\n"; try { throw new Exception("x"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }'; }
do_ruby() { ruby -e 'h = Hash.new(0); 200_000.times { |i| h[(i * i).to_s[-2..]] += 1 }; p h.size; GC.start; p (catch(:x) { 10.times { |i| throw :x, i if i == 5 } }); p Thread.new { (1..1000).reduce(:*) .to_s.size }.value'; }
do_R() { R --vanilla --slave -e 'set.seed(1); x <- matrix(rnorm(90000), 300); print(round(sum(solve(x) %*% x), 6)); print(tryCatch(stop("x"), error = function(e) "caught")); print(summary(lm(dist ~ speed, cars))$r.squared)'; }
do_erlang() { erl -noshell -eval 'P = self(), [spawn(fun() -> P ! lists:sum(lists:seq(1, N)) end) || N <- lists:seq(1, 2000)], io:format("~p~n", [lists:sum([receive X -> X end || _ <- lists:seq(1, 2000)])]), io:format("~p~n", [catch error(x)]), halt(0).' 2>/dev/null | head -1; }
do_ocaml() { ocaml collect.ml; }
do_ocamlopt() { ./collect; }
do_pandoc() { pandoc -f markdown -t html text.md | cksum; }
do_nginx()
{
    mkdir -p served/logs
    nginx -p "$PWD/served" -c nginx.conf 2>served/err
    for ((i = 0; i < 200; i++)); do curl -s --unix-socket served/socket http://x/words; done | cksum
    nginx -p "$PWD/served" -c nginx.conf -s quit 2>>served/err
    for ((i = 0; i < 200; i++)); do [[ -e served/pid ]] || break; sleep 0.05; done
    [[ ! -e served/pid ]] && echo stopped
}
do_postgres()
{
    local as=()
    ((EUID == 0)) && as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    mkdir cluster
    ((EUID == 0)) && chown 65534 cluster
    "${as[@]}" "$server/initdb" -D cluster -A trust -U me --no-sync >/dev/null 2>&1
    "${as[@]}" "$server/pg_ctl" -D cluster -l cluster/log -o "-k '$PWD/cluster' -c listen_addresses='' -c fsync=off" -w start >/dev/null
    "${as[@]}" "$server/psql" -X -h "$PWD/cluster" -U me -d postgres -At -c "create table t as select i, md5(i::text) m from generate_series(1, 50000) i; create index on t(m); select count(*), max(m) from t where m like 'a%'; select sum(a.i) from t a join t b on a.m = b.m" 2>&1
    "${as[@]}" "$server/pg_ctl" -D cluster -w stop >/dev/null
    rm -r cluster
}
do_make() { rm -f project/*.o project/all; make -s -C project -j2; ./project/all; }

# The body of a shell that does it; what it runs is what is on the PATH.
body_of()
{
    declare -p server
    declare -f "do_$1"
    echo "do_$1"
}

prepare()
{
    local i
    mkdir -p "$1/served" "$1/project"
    cd "$1"
    for ((i = 0; i < 20000; i++)); do echo "$i words $((i * 7919 % 10007)) quick"; done >words
    printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
    gcc -g hello.c -o hello
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
  Printf.printf "%d\n" (String.length (String.concat "," (List.init 100000 string_of_int)))
END
    ocamlopt -o collect collect.ml 2>/dev/null
    for ((i = 0; i < 400; i++)); do printf '# Part %d\n\nSome *words* and `code`, [a link](http://x/%d).\n\n- one\n- two\n\n| a | b |\n|---|---|\n| %d | 2 |\n\n' $i $i $i; done >text.md
    printf 'daemon on; pid pid; worker_processes 2; error_log logs/error; events {}\nhttp { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5; server { listen unix:%s/served/socket; root %s; } }\n' "$PWD" "$PWD" >served/nginx.conf
    {
        echo 'OBJECTS = f0.o f1.o f2.o f3.o f4.o f5.o main.o'
        printf 'all: $(OBJECTS)\n\tgcc -o $@ $(OBJECTS)\n%%.o: %%.c\n\tgcc -O2 -c -o $@ $<\n'
    } >project/Makefile
    for ((i = 0; i < 6; i++)); do echo "#include <stdio.h>
int f$i(int x) { return x * $i + 1; }" >project/f$i.c; done
    printf '#include <stdio.h>\nint f5(int);\nint main(void) { printf("%%d\\n", f5(8)); return 0; }\n' >project/main.c
    cd - >/dev/null
}

# try PROGRAM: in folder here/, as whoever runs this
try()
{
    local name=$1 status natively recorded calls note=
    body_of "$name" >"body.$name"
    (cd here && TIMEFORMAT='%U %S %R' && time timeout 300 bash "../body.$name" >"../$name.native" 2>"../$name.native.err"; echo $? >"../$name.native.status") 2>"$name.native.time"
    # with an empty cache, and again
    (cd here && TIMEFORMAT=%R && time timeout 900 "$umbra" record $RECORD_OPTIONS --quiet -o "../$name.data" -- bash "../body.$name" >/dev/null 2>&1) 2>"$name.first.time" || true
    (cd here && TIMEFORMAT='%U %S %R' && time timeout 900 "$umbra" record $RECORD_OPTIONS -o "../$name.data" -- bash "../body.$name" >"../$name.recorded" 2>"../$name.recorded.err"; echo $? >"../$name.recorded.status") 2>"$name.recorded.time"
    cmp -s "$name.native" "$name.recorded" || note="prints otherwise: $(diff "$name.native" "$name.recorded" | head -n 2 | tr '\n' ' ')"
    cmp -s "$name.native.status" "$name.recorded.status" || note+=" status $(<"$name.native.status") and $(<"$name.recorded.status")"
    [[ $(<"$name.native.status") == 0 ]] || note+=" natively: $(tail -n 1 "$name.native.err")"
    status=0
    "$umbra" report --text "$name.data" >"$name.summary" 2>"$name.problems" || status=$?
    ((status == 0)) || note+=" report: $(head -n 1 "$name.problems")"
    natively=$(tail -n 1 "$name.native.time")
    recorded=$(tail -n 1 "$name.recorded.time")
    calls=$(awk '$1 == "thread" && $2 == "entries" { on = 1; next } NF == 0 { on = 0 } on && $1 ~ /^[0-9]+$/ { sum += $2 } END { printf "%.1f", sum / 1e6 }' "$name.summary")
    awk -v first="$(tail -n 1 "$name.first.time")" -v name="$name" -v user="$(id -un)" -v calls="$calls" -v note="$note" -v a="$natively" -v b="$recorded" 'BEGIN {
        split(a, n); split(b, r)
        printf "%-9s %-7s %8.2f %8.2f %8.2f %8.2f %8.2f %6.1f %9s  %s\n", name, user, n[1] + n[2], n[3], first, r[1] + r[2], r[3], n[3] ? r[3] / n[3] : 0, calls, note == "" ? "as natively" : note }'
    [[ ! $note ]]
}

tries()
{
    local name failures=0
    prepare here
    for name in $PROGRAMS; do
        try "$name" || failures=$((failures + 1))
        ((EUID)) || rm -rf "$name.data"
    done
    return $((failures > 0))
}

if [[ ${1:-} == as-user ]]; then
    cd "$2"
    tries || exit 1
    exit
fi
printf '%-9s %-7s %8s %8s %8s %8s %8s %6s %9s  %s\n' program user 'cpu s' 'wall s' first 'rec cpu' 'rec wall' ratio 'M calls' result
chmod 755 "$work"
export XDG_CACHE_HOME=$work/cache
result=0
tries || result=1
if ((EUID == 0)); then
    install -d -o nobody -m 0700 user user/run user/cache user/home
    cp -r "$TESTS" user/tests
    chown -R nobody user
    setpriv --reuid=nobody --regid=nogroup --clear-groups env XDG_CACHE_HOME="$work/user/cache" \
        XDG_RUNTIME_DIR="$work/user/run" HOME="$work/user/home" TMPDIR="$work/user" USER=nobody BUILD="$BUILD" \
        PROGRAMS="$PROGRAMS" bash "$TESTS/long/installed_programs.sh" as-user "$work/user" || result=1
fi
((result == 0)) || fail "see above"
