#!/bin/bash
# Commands of Debian's, more than four hundred, each for a moment: natively, and under `umbra record` sampled by timers.
# Each prints, complains, writes and ends as natively. Every tenth also in four other ways. Prints a line for each
# that does not, then numbers. PROGRAMS: names of some of them; WAYS: others of campaigns/as_natively.sh.
# needs: acl argon2 aspell aspell-en astyle attr bc binutils bison bpftrace brotli bsdextrautils btrfs-progs busybox-static bzip2 clang-14 clang-format-14 clang-tidy-14
# needs: clisp cmake cmark cppcheck cscope curl cvs datamash dbus-daemon dc diffstat discount dnsmasq-base dos2unix ed enscript fakeroot fd-find ffmpeg figlet file fish
# needs: flac flex fontconfig fossil g++ gawk gcc gdb gettext gfortran ghostscript git glpk-utils gnuplot-nox gnutls-bin gnupg gpgsm gpgv graphicsmagick graphviz groff guile-3.0
# needs: hashdeep html2text hunspell hunspell-en-us icu-devtools imagemagick indent jdupes jq ksh libc-dev-bin libglib2.0-bin libjpeg-turbo-progs libxml2-utils lighttpd links
# needs: linux-perf lld-14 llvm-14 lua5.4 luajit lynx lz4 lzip lzop m4 make man-db mandoc memcached mercurial miller minisat moreutils mupdf-tools nasm netpbm nettle-bin
# needs: ninja-build nodejs ocaml-nox openjdk-17-jdk-headless openssh-client openssh-server openssl p7zip-full pari-gp patch pbzip2 perl php8.2-cli pigz pkgconf plzip
# needs: poppler-utils proot protobuf-compiler pypy3 python3 qpdf qrencode ragel rcs re2c redis-server redis-tools regina-rexx rhash ripgrep rpcsvc-proto rrdtool rsync ruby
# needs: sassc sbcl shellcheck socat sox sqlite3 squashfs-tools strace subversion swi-prolog-nox sysbench tcc tcl tcsh texinfo tidy tmux tree units universal-ctags unzip
# needs: valgrind vim w3m wdiff webp wget xfsprogs xmlstarlet xsltproc xxd xz-utils yash z3 zip zopfli zsh zstd
. "$(dirname "$0")/../lib.sh"
. "$TESTS/campaigns/as_natively.sh"

: "${WAYS:=samples_timer}" "${TENTH_WAYS=samples_perf exact prologue_sampled timer_user}"
ERRORS=yes

# Each command takes the place of its shell.
table()
{
    sed -E 's/^([^ ]+) +/\1 export HOME=$PWD; exec /' <<'END_OF_TABLE'
cat       cat -A words
tac       tac words
head      head -n -20 words
tail      tail -c 3000 words
nl        nl -ba words
wc        wc -lwcmL words words2
sort      sort -k4,4 -k3,3nr --parallel=2 words
sort_S    sort -S 64K -R --random-source=words words
uniq      uniq -c -f 3 words
cut       cut -d ' ' -f 2-3 words
paste     paste -d : words words2
join      join -a 1 data.sorted data.sorted
comm      comm -12 data.sorted data.sorted
tr        tr a-z A-Z <words
od        od -A x -t x1z -N 4000 words
base32    base32 words
base64    base64 -w 60 words
basenc    basenc --z85 -i -w 0 eight
cksum     cksum words words2
md5sum    md5sum words
sha1sum   sha1sum words
sha224sum sha224sum words
sha256sum sha256sum words
sha384sum sha384sum words
sha512sum sha512sum words
b2sum     b2sum words
sum       sum -s words
fmt       fmt -w 40 words
fold      fold -w 17 -s words
expand    expand -t 4 words
unexpand  unexpand -a words
pr        pr -n -h title -l 40 hello.c
ptx       ptx -w 60 hello.c
tsort     tsort pairs
shuf      shuf --random-source=words -n 100 words
seq       seq -w 1 7 20000
factor    factor 18446744073709551557 1000000016000000063 120
numfmt    numfmt --to=iec 1024 1048576 3000000
expr      expr 17 \* 23 % 7
printf    /usr/bin/printf '%5.2f|%-9s|%x\n' 3.14159 x 255
echo      /usr/bin/echo -e 'a\tb\\n'
date      date -u -d '2020-02-29 +1 year' +%c%j%V
dirname   dirname a/b/c d/e
basename  basename -a -s .c a/b.c d/e.c
realpath  realpath --relative-to=tree/a tree/a/b/f1 words
readlink  readlink -f tree/../words
pwd       /usr/bin/pwd -P
pathchk   pathchk -p 'a b' words
test      /usr/bin/test -d tree -a -s words
bracket   /usr/bin/[ 3 -gt 4 ]
true      /usr/bin/true
false     /usr/bin/false
yes       sh -c 'yes umbra | head -n 3000'
sleep     sleep 0.05
timeout   timeout 0.1 sleep 5
timeout_k timeout -s USR1 0.1 sleep 5
nice      nice -n 3 nice
nohup     nohup head -n 1 words
env       env -i A=1 B=2 env
printenv  printenv HOME LC_ALL
nproc     nproc --all
uname     uname -srm
arch      arch
hostid    hostid
whoami    whoami
id        id
groups    groups
logname   logname
tty       tty
stty      stty -a
who       who
users     users
stat      stat -c '%n %s %a %F' words tree
ls        ls -lAR --time-style=+x tree
dir       dir tree/a
vdir      vdir --time-style=+x tree/a/b
dircolors dircolors -p
du        du -ab --apparent-size tree
df        df --output=target /proc
cp        cp -rv tree copied
mv        mv -v words moved
rm        rm -rv tree
mkdir     mkdir -pv -m 750 p/q/r
rmdir     rmdir -v empty
ln        ln -sv words link
link      link words linked
unlink    unlink words2
touch     touch -d 2020-01-01 words
truncate  truncate -s 100 words
mkfifo    mkfifo -m 600 fifo
mknod     mknod pipe p
mktemp    mktemp -u -t xXXX --suffix=. --tmpdir=/nowhere --dry-run x
chmod     chmod -vR u+x,g-w tree
chown     chown -v --reference=words words2
chgrp     chgrp -v root words
install   install -vD -m 600 words a/b/words
split     split -n l/5 --verbose words part
csplit    csplit words /1000/ '{2}'
dd        dd if=words of=out bs=777 count=33 conv=ucase status=none
shred     shred -n 1 -u words2
sync      sync words
tee       tee one two <words
stdbuf    stdbuf -o0 -e0 head -c 1000 words
chroot    chroot / /usr/bin/id -u
runcon    runcon x true
chcon     chcon x words
find      find tree -type f -size +1k -printf '%p %s\n' -o -name 'f1*' -print
find_exec find tree -name 'f*' -exec md5sum {} +
find_each find tree -name 'f1?' -execdir cat {} \;
xargs     xargs -n 3 -P 1 -a pairs echo
xargs_p   xargs -n 100 -P 1 -a words cksum --
grep      grep -c '[0-9]\{4\} quick' words
grep_P    grep -nP '(\d)\1{2}' words
grep_F    grep -oiFf pairs words
sed       sed -E 's/([a-z]+) ([0-9]+)/\2 \1/;/77/d' words
sed_i     sed -i.old -e 1,5d -e y/abc/xyz/ words
gawk      gawk '{ s[$1 % 7] += $3; gsub(/i/, "j"); print } END { for (i = 0; i < 7; i++) print s[i] | "sort -r" }' words
mawk      mawk '{ print length, toupper($4) }' words
diff      diff -u words words2
diff3     diff3 -m words words2 words
sdiff     sdiff -s words words2
cmp       cmp -l words words2
patch     patch words change
ed        ed -s words <script.ed
file      file -k words hello hello.c page.html image.ppm data.csv
strings   strings -n 8 -t x hello
nm        nm -CS hello
objdump   objdump -dSC hello
readelf   readelf -aW hello
size      size -A hello
strip     strip -o stripped hello
objcopy   objcopy -O binary hello raw
ar        ar rcDv lib.a hello hello.c
ranlib    ranlib -D lib0.a
addr2line addr2line -fe hello 0x1139
cxxfilt   c++filt _ZNSt6vectorIiSaIiEE9push_backEOi
as        as -o as.o code.s
ld        ld -r -o linked.o code.o
gold      gold -r -o linked.o code.o
elfedit   elfedit --output-osabi linux code.o
gprof     gprof --version
gcov      gcov-12 --version
gcc       gcc -O2 -g -c hello.c
gcc_E     gcc -E hello.c
gcc_link  gcc -static -w hello.c -o static
gcc_lto   gcc -flto -O2 -w hello.c -o lto
gxx       g++ -O1 -fsyntax-only -w -x c++ hello.c
gcc_bad   gcc -c page.html -x c pairs
cpp       cpp -dM hello.c
gfortran  gfortran -c sum.f
clang     clang-14 -O2 -S -emit-llvm -o - hello.c
clang_b   clang-14 -w -c pairs -x c hello.i
tcc       tcc -c hello.c
nasm      nasm -f elf64 code.asm -o code2.o
ndisasm   ndisasm -b 64 raw0
llc       llc-14 -o - hello.ll
opt       opt-14 -O2 -S hello.ll
lli       lli-14 hello.ll
llvm_dis  llvm-objdump-14 -d hello
llvm_dwarf llvm-dwarfdump-14 hello
lld       ld.lld-14 -r -o linked.o code.o
clangfmt  clang-format-14 hello.c
clangtidy clang-tidy-14 hello.c --
make      make -j2 -f rules all
make_n    make -n -d -f rules
cmake_E   cmake -E cat words
cmake_P   cmake -P script.cmake
ctest     ctest --version
ninja     ninja -f rules.ninja
m4        m4 -Dn=40 fib.m4
flex      flex -t scan.l
bison     bison -o calc.c -v calc.y
re2c      re2c -i token.re
ragel     ragel -C -G2 machine.rl -o machine.c
rpcgen    rpcgen -h rpc.x
gencat    gencat cat.out messages
git       git -c core.pager= log -p --stat
git_gc    git gc -q
git_blame git blame -s lines
git_grep  git grep -n 7
git_fsck  git fsck --strict
git_clone git clone -q . cloned
git_bad   git show nothing
git_help  git help -a
perl      perl -e 'my %h; $h{$_ % 997} .= sprintf "%x", $_ for 1 .. 60000; print length(join "", map { $h{$_} } sort keys %h), "\n"; eval { die { code => 7 } }; print $@->{code}, "\n"'
perl_sig  perl -e '$SIG{ALRM} = sub { $n++ }; alarm 1; 1 until $n; $SIG{CHLD} = sub { wait; print "child $?\n" }; if (!fork) { exit 3 } select undef, undef, undef, 2; print "done\n"'
perl_pty  perl -MPOSIX -e 'pipe R, W; if (!fork) { close R; syswrite W, "x" x 70000; _exit 4 } close W; local $/; print length(<R>), "\n"; wait; print $? >> 8, "\n"'
perldoc   perldoc -T -onroff -f splice
perl_test perl -MTest::More -e 'plan tests => 2; ok(1, "a"); is_deeply([1, {b => 2}], [1, {b => 2}])'
python    /usr/bin/python3 -c 'import json, re, hashlib; print(hashlib.md5(json.dumps([re.sub("1", "x", str(i)) for i in range(20000)]).encode()).hexdigest())'
python_s  /usr/bin/python3 -c 'import signal, time, os; n = []; signal.signal(signal.SIGALRM, lambda *a: n.append(1)); signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05); signal.siginterrupt(signal.SIGALRM, True); t = time.monotonic(); time.sleep(0.4); print(len(n) > 3, signal.getsignal(signal.SIGURG), signal.pthread_sigmask(signal.SIG_BLOCK, []))'
python_t  /usr/bin/python3 -c 'import threading, queue; q = queue.Queue(3); r = []; t = [threading.Thread(target=lambda: [r.append(q.get()) for i in range(500)]) for _ in range(4)]; [x.start() for x in t]; [q.put(i) for i in range(2000)]; [x.join() for x in t]; print(sum(r))'
python_p  /usr/bin/python3 -c 'import subprocess, multiprocessing; print(subprocess.run(["sort", "-n"], input=b"3\n1\n2\n", capture_output=True)); print(multiprocessing.get_context("fork").Pool(2).map(abs, [-1, -2]))'
python_m  /usr/bin/python3 -m doctest -v cases.py
python_fd /usr/bin/python3 -c 'import os, resource; print(sorted(os.listdir("/proc/self/fd")), resource.getrlimit(resource.RLIMIT_NOFILE), os.sched_getaffinity(0), os.getpgrp() == os.getpid(), os.nice(0), os.umask(0))'
python_l  /usr/bin/python3 -c 'import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20)); l = [open("words") for i in range(12)]; print(l[-1].fileno())'
python_e  /usr/bin/python3 -c 'import os; print(sorted(k for k in os.environ if k[:6] != "UMBRA_")); print(open("/proc/self/cmdline").read()); print(os.readlink("/proc/self/exe")); print(open("/proc/self/comm").read()); print(os.path.samefile("/proc/self/exe", "/usr/bin/python3"))'
python_st /usr/bin/python3 -c 'print([l for l in open("/proc/self/status") if l.split(":")[0] in ("Name", "Umask", "State", "TracerPid", "Uid", "Groups", "FDSize", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "CapEff", "NoNewPrivs")])'
python_c  /usr/bin/python3 -m compileall -q cases.py
python_z  /usr/bin/python3 -m zipfile -c z.zip words
python_d  /usr/bin/python3 -c 'import dis, tokenize; dis.dis(lambda x: x[2:] + [len(x)]); print(len(list(tokenize.tokenize(open("cases.py", "rb").readline))))'
python_pr /usr/bin/python3 -m this
pypy      pypy3 -c 'print(sum(i * i % 97 for i in range(300000)))'
sqlite3   sqlite3 :memory: "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 9000) insert into t select i, i * 7919 % 1009 from n; create index x on t(b); select b, count(*), sum(a) from t group by b order by 2 desc, 3 limit 20; select json_group_array(a) from t where a < 9"
sqlite3_f sqlite3 file.db ".mode box" ".import --csv data.csv d" "select b, avg(c) from d group by b" ".schema" "vacuum" "pragma integrity_check"
lua       lua5.4 -e 'local t = {} for i = 1, 60000 do t[#t + 1] = tostring(i):reverse() end table.sort(t) print(#table.concat(t), t[777]) print(pcall(error, {})==false) print(coroutine.wrap(function() coroutine.yield(3) end)())'
luac      luac5.4 -s -o calc.out calc.lua
luajit    luajit -e 'local s = 0 for i = 1, 3000000 do s = s + i % 7 end print(s)'
luajit_o  luajit -joff -bl calc.lua
ruby      ruby -e 'h = Hash.new(0); 20_000.times { |i| h[(i * i).to_s[-2..]] += 1 }; p h.size; trap("USR1") { puts "usr1" }; Process.kill("USR1", $$); sleep 0.1; p `echo a`; p Thread.new { sleep 0.05; 7 }.value'
erb       ruby --disable-gems -rerb -e 'puts ERB.new("<% 9.times do |i| %><%= i * i %>,<% end %>").result'
php       php -n -r 'for ($i = 0; $i < 50000; $i++) $a[$i % 1000] = md5($i . ($a[$i % 1000] ?? "")); echo md5(implode($a)), "\n"; echo shell_exec("echo x"), preg_replace("/\d+/", "n", "a1b22"), "\n";'
php_l     php -n -l calc.lua
tclsh     tclsh calc.tcl
guile     guile --no-auto-compile -c '(display (let l ((i 0) (s 0)) (if (= i 100000) s (l (+ i 1) (+ s i)))))'
node      node -e 'let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; console.log(s); require("child_process").exec("echo child", (e, o) => { console.log(o); setTimeout(() => console.log("later"), 20) }); new Promise(r => setImmediate(r)).then(() => console.log(require("zlib").gzipSync("x".repeat(1e5)).length))'
java      java -Xint -cp . J
javap     javap -c -cp . J
javac     javac -d out J.java
swipl     swipl -q -g 'numlist(1,20000,L), sumlist(L,S), print(S), nl, catch(throw(x),E,(print(E),nl)), halt'
ocaml     ocaml -e 'let rec f n = if n < 2 then n else f (n - 1) + f (n - 2);; print_int (f 20)'
ocamlc    ocamlopt -config
sbcl      sbcl --noinform --no-userinit --no-sysinit --non-interactive --eval '(print (handler-case (error "x") (error () 7)))'
clisp     clisp -q -norc -x '(print (loop for i below 30000 sum (mod (* i i) 97)))'
regina    regina loop.rexx
gnuplot   gnuplot -e 'set term dumb 70 30; plot sin(x)*x'
bc        bc -lq pi.bc
dc        dc -e '20 k 2 v p 99 [ d 1 - d 0 <m * ] d sm x p'
datamash  datamash -t, --header-in -sg 2 mean 1 sum 1 -i /dev/null
gp        gp -q -f pari
units     units -t '3 furlongs/fortnight' 'm/s'
glpsol    glpsol --version
z3        z3 -in <sat.smt2
minisat   minisat -verb=0 sat.cnf
dash      dash -c 'trap "echo int" INT; kill -INT $$; (exit 3); echo $?; for i in 1 2 3; do sleep 0.01 & done; wait; echo `echo sub`; ulimit -n; umask'
bash      bash -c 'set -o pipefail; declare -A h; for ((i = 0; i < 5000; i++)); do ((h[$((i % 97))] += i)); done; echo ${h[13]} <(:); coproc cat; echo x >&${COPROC[1]}; read y <&${COPROC[0]}; echo $y; trap "echo exit" EXIT; yes | head -n 1; echo ${PIPESTATUS[@]}'
bash_i    bash --norc -ic 'sleep 0.05 & wait; echo $-; jobs; kill -l 10' 2>/dev/null
zsh       zsh -f -c 'for i in {1..5000}; do ((s += i)); done; print $s; TRAPUSR1() { print usr1 }; kill -USR1 $$; (exit 3); print $?; ls =ls | cat'
ksh       ksh -c 'for ((i = 0; i < 5000; i++)); do ((s += i)); done; echo $s; trap "echo t" EXIT; sleep 0.05 & wait $!; echo $?'
tcsh      tcsh -f -c '@ s = 0; foreach i (`seq 50`); @ s += $i; end; echo $s'
fish      fish --no-config -c 'for i in (seq 50); set s (math $s + $i); end; echo $s; string repeat -n 3 ab; sleep 0.05 &; wait; status'
yash      yash -c 'i=0 s=0; while [ $i -lt 500 ]; do s=$((s+i)); i=$((i+1)); done; echo $s; trap "echo bye" EXIT'
busybox   busybox sh -c 'busybox seq 20 | busybox awk "{ s += \$1 } END { print s }"; busybox md5sum words; busybox sort -r words | busybox head -n 3'
busyboxtar busybox tar cf b.tar tree
tar       tar -c --sort=name --mtime=@0 --owner=0 --group=0 -f a.tar tree
tar_x     tar -xvf old.tar -C empty
tar_z     tar -cJf a.tar.xz --mtime=@0 tree
cpio      cpio -o -H newc --reproducible -F a.cpio <names
gzip      gzip -9nkv words
gunzip    gunzip -c old.gz
zcat      zcat -f old.gz words
bzip2     bzip2 -kv words
bunzip2   bunzip2 -c old.bz2
xz        xz -k -T 2 -9e words
unxz      unxz -tv old.xz
xzcat     xzcat --robot -l old.xz
zstd      zstd -q -19 -T2 words
zstd_d    zstd -dc --no-progress old.zst
pzstd     pzstd -q -p 2 words
lz4       lz4 -9 -q words
lzop      lzop -9 words
lzip      lzip -9 -k words
plzip     plzip -n 2 -k words
brotli    brotli -k -q 9 words
zopfli    zopfli -c page.html
pigz      pigz -nk -p 2 -11 -I 1 page.html
pbzip2    pbzip2 -k -p2 words
zip       zip -X -r a.zip tree
unzip     unzip -v old.zip
zipinfo   zipinfo -1 old.zip
rz7       7z l -ba old.zip
mksq      mksquashfs tree t.sqfs -quiet -no-progress -processors 2 -all-time 0 -mkfs-time 0
openssl   openssl dgst -sha3-256 words
openssl_e openssl enc -aes-256-ctr -pbkdf2 -k x -S 0011223344556677 -in words
openssl_g openssl genpkey -algorithm ed25519 -out key.pem -outform DER -pass pass:x -aes256
openssl_s openssl speed -help
openssl_c openssl ciphers -v HIGH
gpg       gpg --homedir g --batch --quiet --print-md SHA256 words
gpg_l     gpg --homedir g --batch --list-config
gpgsm     gpgsm --version
gpgconf   gpgconf --list-components
gpgv      gpgv --homedir g words
sshkeygen ssh-keygen -lf key.pub
ssh       ssh -G -F /dev/null host
ssh_v     ssh -V
sshkeyscan ssh-keyscan -T 1 -p 1 127.0.0.1
sshd      /usr/sbin/sshd -T -f /dev/null -h key
scp       scp -q words copied
rsync     rsync -ai --no-t tree/ copy/
curl      curl -sS file:///etc/hostname http://127.0.0.1:1/
curl_V    curl --version
wget      wget -nv -T 1 -t 1 http://127.0.0.1:1/
nettle    nettle-hash -a sha3_256 words
gnutls    certtool --generate-privkey --seed=0000000000000000000000000000000000000000000000000000000000000000 --provable --bits=2048 --outfile=k
hashdeep  hashdeep -b -c md5,sha256 words
rhash     rhash --all words
argon2    argon2 saltsalt -t 2 -m 12 -p 2 -r <eight
jq        jq -c 'map(.a) | add, (.[3] | keys), (map(.b) | group_by(length) | map(length))' data.json
mlr       mlr --icsv --ojson stats1 -a p50,mean -f c -g b data.csv
xmllint   xmllint --format --xpath '//li[position()<9]' page.html
xmllint_n xmllint --noout --valid page.html
xsltproc  xsltproc page.xsl page.html
xmlstar   xmlstarlet el -u page.html
xmlcat    xmlcatalog --create
tidy      tidy -q -asxml page.html
html2text html2text page.html
lynx      lynx -dump -nolist page.html
links     links -dump page.html
w3m       w3m -dump page.html
cmark     cmark text.md
markdown  markdown text.md
vim       vim -u NONE -i NONE -n -es -c '%s/1/AAA/g' -c 'g/7$/normal dd' -c 'sort! n' -c 'wq' words
vim_V     vim --version
less      less -E words
more      more words
man       man -P cat -Tutf8 --no-hyphenation ./x.1
mandoc    mandoc -Tutf8 x.1
groff     groff -man -Tascii x.1
troff     troff -a x.1
tbl       tbl x.1
makeinfo  makeinfo --plaintext book.texi
gs        gs -q -dNOPAUSE -dBATCH -sDEVICE=ppmraw -r20 -sOutputFile=page.ppm page.ps
pdftotext pdftotext -layout page.pdf -
pdfinfo   pdfinfo page.pdf
qpdf      qpdf --deterministic-id --qdf page.pdf qdf.pdf
mutool    mutool info page.pdf
convert   convert image.ppm -resize 50% -blur 0x2 ppm:-
identify  identify -format '%w %h %z %#' image.ppm
gm        gm convert image.ppm -resize 70% -sharpen 1 ppm:-
pnmscale  pamscale 0.5 image.ppm
djpeg     djpeg -version
cwebp     cwebp -quiet -mt image.ppm -o image.webp
ffprobe   ffprobe -v error -show_streams sound.wav
ffmpeg    ffmpeg -nostdin -v error -i sound.wav -threads 2 -bitexact -f md5 -
sox       sox -R sound.wav -n stat
flac      flac -s -f sound.wav
dot       dot -Tplain graph.dot
qrencode  qrencode -t UTF8 hello
figlet    figlet profiler
tree      tree -a tree
jdupes    jdupes -r -q tree
rg        rg -n --sort path -j 2 'quick.*7' tree
fd        fdfind -j 2 f1 tree
parallel  parallel --version
ps        ps -o comm= -p 1
pgrep     pgrep -x nothing_of_this_name
free      free --version
uptime    uptime -V
vmstat    vmstat -V
top       top -v
watch     watch --version
pidof     pidof nothing_of_this_name
kill      /usr/bin/kill -L
sysctl    sysctl -n kernel.ostype
lscpu     lscpu -B -e=CPU
lsblk     lsblk --version
findmnt   findmnt -n -o TARGET /proc
mount     mount --version
getopt    getopt -o ab: --long alpha -- -a -b x --alpha y
hexdump   hexdump -C -n 3000 words
xxd       xxd -l 3000 words
look      look -d 12 data.sorted
rev       rev words
column    column -t -n x pairs
col       col -b <words
ul        ul -t dumb words
flock     flock lock -c 'echo locked'
setsid    setsid -w sh -c 'echo $(( $$ > 0 ))'
setpriv   setpriv --reuid=65534 --clear-groups id
prlimit   prlimit --nofile=64:64 --core=0 sh -c 'ulimit -a'
prl_stack prlimit --stack=unlimited sh -c 'ulimit -s; head -n 2 words'
prl_as    prlimit --as=2000000000 sort words
prl_nproc prlimit --nproc=4000:4000 --fsize=100000 sh -c 'head -c 300000 /dev/zero >big; echo $?'
taskset   taskset -c 0 nproc
chrt      chrt -b 0 chrt -m
ionice    ionice -c 3 ionice
unshare   unshare -r id -u
unshare_p unshare -fp --mount-proc ps -o pid,comm
nsenter   nsenter -t 1 -u hostname
script    script -qec 'tty >/dev/null; stty size; echo in script' log0
logger    logger --no-act -s -t x hello
namei     namei -l tree/a/b/f1
rename    rename.ul f g tree/a/f1 tree/a/f2
mcookie   mcookie -V
lsns      lsns --version
getent    getent passwd root
locale    locale -k LC_TIME
iconv     iconv -f UTF-8 -t UTF-16LE words
localedef localedef --list-archive
ldd       sh -c 'ldd /usr/bin/git | cut -d " " -f 1 | grep -v libhooks.so'
ldconfig  /usr/sbin/ldconfig -N -p
getconf   sh -c 'getconf -a | grep -v _AVPHYS_PAGES'
strace    strace -f -e trace=openat,execve -o /dev/null true
strace_c  strace -qq -e trace=write -o st.log head -n 3 words
gdb       gdb -nx -batch -ex 'info functions twice' -ex 'disassemble main' hello
gdb_run   sh -c 'gdb -nx -batch -ex "break twice" -ex run -ex "bt 1" -ex continue ./hello 2>&1 | grep -v process'
valgrind  valgrind --version
perf      perf --version
dpkg      dpkg -L bc
dpkgq     dpkg-query -W -f '${Package} ${Status}\n' 'lib*-dev'
dpkgdeb   dpkg-deb --build -Zgzip deb d.deb
apt       apt-config dump
aptcache  apt-cache policy bc
debconf   update-alternatives --list editor
fakeroot  fakeroot -- sh -c 'chown 7:8 words; stat -c %u:%g words'
proot     proot -v -1 true
systemd   systemd-escape -p /a/b-c
sysdpath  systemd-path user-binaries
sysdan    systemd-analyze calendar 'Mon *-1-1'
sysdid    systemd-id128 show
journal   journalctl --version
busctl    busctl --version
mke2fs    /usr/sbin/mke2fs -q -t ext4 -U 6ba7b810-9dad-11d1-80b4-00c04fd430c8 -E hash_seed=6ba7b810-9dad-11d1-80b4-00c04fd430c8 disk 2M
debugfs   /usr/sbin/debugfs -R stats words
e2fsck    /usr/sbin/e2fsck -V
xfs       /usr/sbin/mkfs.xfs -V
btrfs     btrfs --version
getfacl   getfacl words
setfacl   setfacl -m u:1:r words
getfattr  getfattr -d words
capsh     /usr/sbin/capsh --decode=3
getcap    /usr/sbin/getcap hello
ip        ip -V
ss        ss -V
hostname  hostname -V
dnsmasq   dnsmasq --test -C dnsmasq.conf
lighttpd  /usr/sbin/lighttpd -tt -f served.conf
redis     redis-server --version
redischk  redis-check-aof words
rediscli  redis-cli -p 1 ping
memcached memcached -V
socat     socat -u OPEN:words EXEC:cksum
socat_p   socat -u EXEC:'echo hi' STDOUT
tmux      tmux -V
svn       svn info words
svnadmin  svnadmin create repo --compatible-version 1.9 --fs-type fsfs
hg        hg --version -q
cvs       cvs --version
rcs       rcs -q -i -t-x words
ci        ident hello.c
fossil    fossil version
ctags     ctags --sort=yes -f - hello.c calc.y
cscope    cscope -b -k -f cs.out hello.c
indent    indent -st -gnu hello.c
astyle    astyle --style=gnu --stdin=hello.c
cppcheck  cppcheck -q --enable=all --suppress=missingIncludeSystem hello.c
shcheck   shellcheck script.sh
aspell    aspell -d en list <text.md
hunspell  hunspell -d en_US -l text.md
msgfmt    msgfmt -o x.mo x.po
xgettext  xgettext --omit-header -o - hello.c
envsubst  envsubst <script.sh
fc        fc-match -f %{family} sans
icu       uconv -x any-nfd words
protoc    protoc --descriptor_set_out=p.pb p.proto
wdiff     wdiff words words2
diffstat  diffstat change
dos2unix  dos2unix -n words unix
enscript  enscript -q -B -p out.ps hello.c
sassc     sassc style.scss
rrdtool   rrdtool create a.rrd --start 1000000000 --step 60 DS:x:GAUGE:120:U:U RRA:AVERAGE:0.5:1:100
sysbench  sysbench --version
pkgconf   pkgconf --list-package-names
desktop   gio mime text/plain
glib      gapplication version
dbus      dbus-run-session --version
moreutils ifdata -e lo
sponge    sponge sponged <words
pee       pee cksum 'wc -l' <words
ts        errno -l
chronic   isutf8 words image.ppm
END_OF_TABLE
}

prepare_more()
{
    export HOME=$PWD
    sort -k1,1 <data.csv | tr ',' ' ' | sort >data.sorted
    head -c 8000 words >eight
    printf '%s\n' 'a b' 'b c' 'a c' 'quick d' 'd brown' >pairs
    printf '2,7d\n/77/s/q/Q/\n1,$g/9 q/m0\nw out\nq\n' >script.ed
    diff -u words words2 >change || true
    find tree -type f | sort >names
    tar -cf old.tar tree
    gzip -nk <words >old.gz && bzip2 <words >old.bz2 && xz <words >old.xz && zstd -q <words >old.zst && zip -q -X -r old.zip tree
    mkdir -p empty deb/DEBIAN g
    chmod 700 g
    gcc -w -O1 -S hello.c -o code.s && gcc -w -c hello.c -o code.o && ar rcDS lib0.a code.o && objcopy -O binary hello raw0
    clang-14 -w -S -emit-llvm hello.c -o hello.ll
    printf 'all: a b c\na b c:\n\t@echo "[$@]"; sleep 0.02\n.PHONY: a b c\n.NOTPARALLEL:\n' >rules
    printf 'rule x\n command = echo $out >$out\nbuild n1: x words\nbuild n2: x n1\n' >rules.ninja
    printf 'foreach(i RANGE 200)\n string(SHA1 h "${h}${i}")\nendforeach()\nmessage("${h}")\n' >script.cmake
    printf 'struct p { int x; string s<>; };\nprogram P { version V { int F(p) = 1; } = 1; } = 77;\n' >rpc.x
    printf '$set 1\n1 hello\n2 other\n' >messages
    printf 'echo 1..2\necho ok 1\necho ok 2\n' | sed 's/echo //' >tap
    printf 'import unittest\nclass C(unittest.TestCase):\n def test_a(self): self.assertEqual(1, 1)\n def test_b(self):\n  with self.assertRaises(ZeroDivisionError): 1 / 0\n' >cases.py
    printf 'local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end\nprint(f(15))\n' >calc.lua
    printf 'set s 0; for {set i 0} {$i < 20000} {incr i} { incr s [expr {$i*$i %% 97}] }; puts $s; puts [catch {error x} m]; after 20; puts [exec echo hi]\n' >calc.tcl
    printf 's = 0\ndo i = 1 to 5000\n s = s + i // 7\nend\nsay s\n' >loop.rexx
    printf 'scale=100; 4*a(1); quit\n' >pi.bc
    printf 'print(factor(2^67-1))\n' >pari
    printf '(declare-const x Int)(assert (and (> (* x x) 50) (< x 9) (> x 0)))(check-sat)(get-value (x))\n' >sat.smt2
    printf 'p cnf 3 3\n1 2 0\n-1 3 0\n-2 -3 0\n' >sat.cnf
    printf '.TH X 1\n.SH NAME\nx \\- a page\n.SH TEXT\nWords and \\fBmore\\fR words.\n.TS\nl l.\na\tb\n.TE\n' >x.1
    python3 -c 'import json; print(json.dumps([{"a": i, "b": str(i * i)} for i in range(3000)]))' >data.json
    printf 'Package: d\nVersion: 1\nArchitecture: all\nMaintainer: A <a@x.test>\nDescription: d\n' >deb/DEBIAN/control
    printf 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\nmsgid "a"\nmsgstr "b"\n' >x.po
    printf 'syntax = "proto3"; message M { int32 a = 1; repeated string s = 2; }\n' >p.proto
    printf 'fn main() { let v: Vec<u64> = (1..100).filter(|x| x %% 3 == 0).collect(); println!("{v:?}"); }\n' >rs.rs
    printf '$a: 3px; .b { width: $a * 2; .c { color: lighten(#123456, 20%%); } }\n' >style.scss
    printf 'server.document-root = "/tmp"\nserver.port = 7777\n' >served.conf
    ssh-keygen -q -t ed25519 -N '' -f key -C c
    javac -d . J.java
    export GIT_AUTHOR_DATE='2020-01-01 00:00Z' GIT_COMMITTER_DATE='2020-01-01 00:00Z'
    git init -q -b main
    git config user.name a && git config user.email a@x.test
    seq 50 >lines && git add lines hello.c && git commit -q -m one && seq 30 80 >lines && git commit -q -a -m two
}

# Prints each system call that SIGURG interrupts, in any process: program, call, its answer, the signal's si_code.
watch_interruptions()
{
    local try
    [[ $EUID == 0 ]] && command -v bpftrace >/dev/null || return 0
    bpftrace -e 'tracepoint:raw_syscalls:sys_enter { delete(@answer[tid]) }
        tracepoint:raw_syscalls:sys_exit /args->ret == -4 || (args->ret <= -512 && args->ret >= -516)/
            { @call[tid] = args->id; @answer[tid] = args->ret }
        tracepoint:signal:signal_deliver /args->sig == 23 && args->code == -2/ { @timers = count() }
        tracepoint:signal:signal_deliver /args->sig == 23 && @answer[tid]/
            { printf("interrupted %s %d %d %d\n", comm, @call[tid], @answer[tid], args->code) }
        END { clear(@call); clear(@answer) }' >interruptions 2>/dev/null &
    watcher=$!
    started+=("$watcher")
    for ((try = 0; try < 100; try++)); do
        perl -e '$SIG{URG} = sub {}; if (!fork) { select undef, undef, undef, 0.1; kill "URG", getppid; exit } sleep 1'
        grep -qs 'interrupted perl' interruptions && return
        kill -0 "$watcher" 2>/dev/null || break
    done
    echo 'skipped: interruptions, which bpftrace cannot see here'
    watcher=
}

# SI_TIMER is the timers' code, POLL_IN perf's.
none_interrupted()
{
    [[ $watcher ]] || return 0
    kill -INT "$watcher"
    wait "$watcher" || true
    echo "$(sed -n 's/^@timers: //p' interruptions) signals of timers, $(grep -cE ' (-2|1)$' interruptions) system calls interrupted"
    ! grep -E '^interrupted .* (-2|1)$' interruptions
}

watcher=
watch_interruptions
differs=
all_as_natively || differs=yes
none_interrupted || fail 'the samples have interrupted system calls'
[[ ! $differs ]]
