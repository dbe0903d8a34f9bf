#!/bin/bash
# A hundred of Debian's programs, each with a check of its result: natively, and under `umbra record` with hooks
# in prologues, with copied bodies, paused, and with both by an ordinary user. Each prints, writes and ends as
# natively, and all traces balance. Prints a line for each that does not, then numbers.
# PROGRAMS: names of some of them; WAYS: some of default prologue copy paused user prologue_user, or samples_timer
# (by default, but sampled by timers). copy, paused and prologue time some calls, the others sample.
# needs: bc dc datamash miller jo xmlstarlet xsltproc html2text w3m lynx links discount groff texinfo ghostscript poppler-utils qpdf mupdf-tools
# needs: imagemagick graphicsmagick netpbm optipng pngcrush gifsicle jpegoptim webp flac lame vorbis-tools opus-tools sox ffmpeg x264 x265 aom-tools vpx-tools
# needs: dav1d gnuplot-nox graphviz plotutils pari-gp maxima units remind redis-server memcached lighttpd curl dnsmasq-base openssh-server openssh-client
# needs: rsync mercurial subversion cvs rcs fossil cpio zip unzip p7zip-full lzip lzop lz4 brotli pbzip2 pigz tcc nasm yasm gfortran sbcl ecl clisp guile-3.0
# needs: chicken-bin swi-prolog-nox gprolog tcl pypy3 mono-runtime mono-mcs ghc default-jdk-headless m4 flex bison re2c ragel swig universal-ctags cscope
# needs: indent astyle uncrustify cppcheck shellcheck strace ninja-build cmake scons aspell aspell-en hunspell hunspell-en-us espeak-ng gnupg openssl nettle-bin
# needs: hashdeep rhash argon2 figlet toilet povray tesseract-ocr zbar-tools qrencode barcode exiv2 libimage-exiftool-perl mediainfo tree jdupes
# needs: moreutils pv socat sysbench rrdtool zsh fish ksh tcsh yash patchutils wdiff dos2unix enscript a2ps cowsay chromium libreoffice-calc-nogui postgresql sassc
. "$(dirname "$0")/../lib.sh"
. "$TESTS/campaigns/as_natively.sh"

: "${WAYS:=default prologue copy paused user prologue_user}"

# NAME, then what a shell runs in a folder with these files: words, text.md, page.html, data.csv, image.ppm, hello.c
# and sum.f. What it prints and what it leaves is compared.
table()
{
    cat <<'END_OF_TABLE'
bc        echo 'scale=400; 4*a(1); 2^2000 % 1000007' | bc -l
dc        echo '20 k 2 v p 99 [ d 1 - d 0 <m * ] d sm x 1000007 % p' | dc
datamash  datamash -t, -s --header-in -g 2 mean 1 sum 1 pstdev 3 <data.csv
mlr       mlr --icsv --ojson stats1 -a p50,mean,count -f c -g b then sort -f b data.csv
jo        jo -p a=1 b[]=2 b[]=3 c=$(jo x=y)
xmlstarlet xmlstarlet sel -t -m '//li' -v . -n page.html
xsltproc  xsltproc page.xsl page.html
html2text html2text page.html
w3m       w3m -dump page.html
lynx      lynx -dump -nolist page.html
links     links -dump page.html
markdown  markdown text.md
groff     groff -ms -Tutf8 <words.ms | head -300
makeinfo  makeinfo --plaintext book.texi
gs        gs -q -dNOPAUSE -dBATCH -sDEVICE=ppmraw -r40 -sOutputFile=page.ppm page.ps && cksum page.ppm
pdftotext pdftotext -layout page.pdf - | cksum; pdftoppm -r 30 page.pdf | cksum
qpdf      qpdf --deterministic-id --stream-data=uncompress page.pdf big.pdf && cksum big.pdf; qpdf --check page.pdf
mutool    mutool draw -q -F ppm -r 40 -o - page.pdf | cksum
convert   convert image.ppm -resize 50% -blur 0x2 -rotate 30 ppm:- | cksum
gm        gm convert image.ppm -resize 70% -sharpen 1 ppm:- | cksum
netpbm    pnmscale 0.5 <image.ppm | ppmquant 64 2>/dev/null | pnmflip -lr | cksum; ppmtojpeg image.ppm 2>/dev/null | djpeg | cksum
optipng   pnmtopng image.ppm >image.png 2>/dev/null; optipng -quiet -o2 image.png; cksum image.png
pngcrush  pnmtopng image.ppm >image.png 2>/dev/null; pngcrush -q -rem time image.png small.png; pngtopnm small.png | cksum
gifsicle  ppmquant 200 image.ppm 2>/dev/null | ppmtogif 2>/dev/null | gifsicle -O3 --resize 60x60 | cksum
jpegoptim ppmtojpeg image.ppm >image.jpg 2>/dev/null; jpegoptim -q -m60 image.jpg; djpeg image.jpg | cksum
cwebp     cwebp -quiet -mt image.ppm -o image.webp; dwebp -quiet image.webp -ppm -o back.ppm; cksum back.ppm image.webp
flac      flac -s -f --no-padding sound.wav -o sound.flac && flac -s -d -f sound.flac -o back.wav && cksum back.wav sound.flac
lame      lame --quiet -b 96 sound.wav sound.mp3 && lame --quiet --decode sound.mp3 back.wav && cksum sound.mp3 back.wav
oggenc    oggenc -Q -s 1 sound.wav -o sound.ogg && oggdec -Q sound.ogg -o back.wav && cksum back.wav
opusenc   opusenc --quiet --serial 1 sound.wav sound.opus && opusdec --quiet sound.opus back.wav && cksum back.wav
sox       sox -R sound.wav -r 11025 out.wav reverb 30 gain -6 && cksum out.wav
x264      x264 --quiet --threads 1 --preset slow --input-res 96x96 --fps 25 -o out.264 image.yuv 2>/dev/null; cksum out.264
x265      x265 --log-level none --pools 1 -F1 --input-res 96x96 --fps 25 -o out.265 image.yuv 2>/dev/null; cksum out.265
ffmpeg264 ffmpeg -nostdin -v error -f lavfi -i testsrc=size=160x120:rate=25:duration=1 -threads 1 -c:v libx264 -bitexact -f framemd5 - | cksum
ffmpeg265 ffmpeg -nostdin -v error -f lavfi -i testsrc=size=160x120:rate=25:duration=1 -threads 1 -c:v libx265 -x265-params log-level=none:pools=1 -bitexact -f framemd5 - | cksum
ffmpegvp9 ffmpeg -nostdin -v error -f lavfi -i mandelbrot=size=160x120:rate=25 -t 1 -threads 1 -c:v libvpx-vp9 -cpu-used 8 -bitexact -f framemd5 - | cksum
aomenc    aomenc --quiet --cpu-used=8 --limit=4 --threads=1 --i420 -w 96 -h 96 --ivf -o out.ivf image.yuv 2>/dev/null; dav1d --quiet -i out.ivf -o back.yuv; cksum back.yuv
vpxenc    vpxenc --quiet --codec=vp8 --limit=8 --threads=1 --i420 -w 96 -h 96 --ivf -o out.ivf image.yuv 2>/dev/null; vpxdec --i420 -o back.yuv out.ivf; cksum back.yuv
gnuplot   gnuplot -e 'set term dumb 100 40; plot sin(x)*x, "data.csv" using 1:3'
dot       dot -Tplain graph.dot; neato -Tplain graph.dot | cksum
plotutils spline -n 40 <points | graph -T svg | cksum
gp        echo 'print(factor(2^101-1)); print(ellap(ellinit([0,0,1,-1,0]),10007)); print(polroots(x^5-x-1))' | gp -q -f
maxima    maxima --very-quiet -r 'print(factor(x^12-1)); print(integrate(1/(1+x^3),x)); quit();'
units     units -t '3 furlongs/fortnight' 'm/s'; units -t 100K tempC
remind    remind -c1 -w80 dates.rem 2026-02-01
redis     redis-server --port 0 --unixsocket $PWD/r.sock --save '' --daemonize yes --pidfile $PWD/r.pid >/dev/null; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do redis-cli -s r.sock ping >/dev/null 2>&1 && break; sleep 0.1; done; redis-cli -s r.sock eval 'for i=1,20000 do redis.call("zadd","z",i%97,i) end return redis.call("zcard","z")' 0; redis-cli -s r.sock zrange z 0 9; redis-cli -s r.sock shutdown nosave; echo down
memcached memcached -u nobody -s $PWD/m.sock -d -P $PWD/m.pid; for i in $(seq 100); do [ -S m.sock ] && [ -s m.pid ] && break; sleep 0.1; done; printf 'set a 0 0 5\r\nhello\r\nget a\r\nincr b 1\r\nquit\r\n' | socat - UNIX-CONNECT:m.sock; kill $(cat m.pid); rm -f m.pid m.sock
lighttpd  sed -i "s|@|$PWD|" lighttpd.conf; lighttpd -f lighttpd.conf; for i in $(seq 100); do [ -S l.sock ] && [ -s l.pid ] && break; sleep 0.1; done; for i in 1 2 3 4 5 6 7 8; do curl -s --unix-socket l.sock http://x/words; done | cksum; p=$(cat l.pid); kill $p; while kill -0 $p 2>/dev/null; do sleep 0.05; done; rm -f l.sock l.pid
dnsmasq   dnsmasq --test -C dnsmasq.conf 2>&1
sshkeygen ssh-keygen -q -t ed25519 -N '' -f key -C c; ssh-keygen -l -f key.pub | cut -d' ' -f1,3-; ssh-keygen -Y sign -q -f key -n n words; ssh-keygen -Y check-novalidate -n n -s words.sig <words | cut -d' ' -f1-4; rm -f key* words.sig
rsync     rsync -a --checksum tree/ copy/ && rsync -ai --delete --dry-run tree/ copy/; diff -r tree copy && echo same; rm -r copy
hg        hg init repo && cd repo && cp ../words . && HGUSER=u hg add -q words && HGUSER=u hg commit -d '0 0' -m one && echo more >>words && HGUSER=u hg commit -d '1 0' -m two && hg log -p --template '{node}\n' | cksum; cd .. && rm -r repo
svn       svnadmin create repo && svn -q co file://$PWD/repo wc && cp words wc && svn -q add wc/words && svn -q ci -m one wc && echo more >>wc/words && svn diff wc; svn -q ci -m two wc; svnadmin verify -q repo; rm -rf repo wc
rcs       cp words v && ci -q -u -t-x -m1 -d'2020-01-01 00:00Z' v && co -q -l v && echo more >>v && ci -q -u -m2 -d'2020-01-02 00:00Z' v && rcsdiff -q -r1.1 -r1.2 v; rlog -h v | grep total; rm -f v v,v
cvs       mkdir cr && cvs -Q -d $PWD/cr init && mkdir im && cp words im && cd im && cvs -Q -d $PWD/../cr import -m x mod v r && cd .. && cvs -Q -d $PWD/cr co mod && echo more >>mod/words && cvs -Q -d $PWD/cr diff mod/words | grep '^[<>]'; rm -rf cr im mod
fossil    export FOSSIL_HOME=$PWD HOME=$PWD USER=u; fossil init -A u f.repo >/dev/null && mkdir co && cd co && fossil open -f ../f.repo >/dev/null 2>&1 && cp ../words . && fossil add words >/dev/null && fossil commit --no-warnings -m one >/dev/null 2>&1; fossil cat words | cksum; fossil close -f; cd .. && rm -rf co f.repo .fossil
cpio      find tree | sort | cpio -o -H newc --reproducible --quiet >a.cpio && cksum <a.cpio && cpio -t --quiet <a.cpio | wc -l; rm a.cpio
zip       zip -q -X -r a.zip tree && unzip -q -o a.zip -d out && diff -r tree out/tree && echo same; rm -r a.zip out
7z        7z a -bd -mx=9 -mmt=1 a.7z words >/dev/null && 7z x -so a.7z | cksum; rm a.7z
lzip      lzip -9 -c words | lzip -dc | cksum; lzip -c words | cksum
lzop      lzop -9 -c words | lzop -dc | cksum
lz4       lz4 -9 -c words 2>/dev/null | lz4 -dc 2>/dev/null | cksum; lz4 -12 -c words 2>/dev/null | cksum
brotli    brotli -c -q 9 words | brotli -dc | cksum; brotli -c -q 11 words | cksum
pbzip2    pbzip2 -c -p2 words | bzip2 -dc | cksum
pigz      pigz -n -c -p2 -11 -I1 words | pigz -dc | cksum
tcc       tcc -run hello.c; tcc hello.c -o t && ./t; rm t
nasm      nasm -f elf64 code.asm -o code.o && cksum <code.o; rm code.o
yasm      yasm -f elf64 code.asm -o code.o && cksum <code.o; rm code.o
gfortran  gfortran -O2 sum.f -o sum && ./sum; rm sum
sbcl      sbcl --noinform --no-userinit --no-sysinit --non-interactive --eval '(progn (print (loop for i below 100000 sum (mod (* i i) 97))) (print (handler-case (error "x") (error () 7))) (print (length (format nil "~r" (expt 7 77)))))'
ecl       ecl --norc --eval '(progn (print (loop for i below 30000 sum (mod (* i i) 97))) (print (handler-case (error "x") (error () 7))) (quit))'
clisp     clisp -q -norc -x '(progn (print (loop for i below 30000 sum (mod (* i i) 97))) (print (handler-case (error "x") (error () 7))) (print (expt 7 200)))'
guile     GUILE_AUTO_COMPILE=0 guile -c '(display (let l ((i 0) (s 0)) (if (= i 100000) s (l (+ i 1) (+ s (modulo (* i i) 97)))))) (newline) (display (call/cc (lambda (k) (for-each (lambda (x) (if (= x 3) (k x))) (list 1 2 3 4)) 0))) (newline)'
csi       csi -e '(import (chicken format)) (print (let l ((i 0) (s 0)) (if (= i 100000) s (l (+ i 1) (+ s (modulo (* i i) 97)))))) (print (call/cc (lambda (k) (k 5))))'
swipl     swipl -q -g 'numlist(1,20000,L), foldl([X,A,B]>>(B is A+X*X mod 97),L,0,S), print(S), nl, catch(throw(x),E,(print(E),nl)), halt'
gprolog   gprolog --query-goal '(length(L,8), write(L), nl, X is 7**77, write(X), nl, catch(throw(x),E,(write(E),nl)))' --query-goal halt 2>&1 | grep -v '^GNU\|^Compiled\|^By\|^Copyright' | sed 's/_[0-9]*/_/g; s/([0-9]* ms) *//; s/^ *//'
tclsh     echo 'set s 0; for {set i 0} {$i < 100000} {incr i} { incr s [expr {$i*$i % 97}] }; puts $s; puts [catch {error x} m]; puts [string length [string repeat ab 1000]]' | tclsh
pypy3     pypy3 -c 'import hashlib, json; print(sum(i*i%97 for i in range(300000))); print(hashlib.sha256(json.dumps(list(range(1000))).encode()).hexdigest())'
mono      mcs -out:h.exe h.cs && mono h.exe; rm h.exe
ghc       ghc -v0 -O Main.hs -o hs && ./hs; ghc -v0 -dynamic Main.hs -o hs -fforce-recomp && ./hs; rm -f hs Main.o Main.hi
java      javac -d . J.java && java -Xshare:auto -cp . J; rm -f J.class
m4        m4 -Dn=40 fib.m4
flex      flex -o scan.c scan.l && gcc -w scan.c -o scan && ./scan <words; rm scan scan.c
bison     bison -o calc.c calc.y && gcc -w calc.c -o calc && echo '2+3*4' | ./calc; rm calc calc.c
re2c      re2c -i --no-generation-date token.re | cksum
ragel     ragel -C -G2 machine.rl -o machine.c && cksum <machine.c; rm machine.c
swig      swig -python -module hello -o wrap.c hello.i && grep -c PyObject wrap.c; rm wrap.c hello.py
ctags     ctags --sort=yes -f - hello.c calc.y
cscope    cscope -b -k -f cs.out hello.c && cscope -d -f cs.out -L1 main; rm cs.out
indent    indent -st -gnu hello.c
astyle    astyle --style=gnu <hello.c
uncrustify uncrustify -q -l C -c - -f hello.c
cppcheck  cppcheck -q --enable=all --suppress=missingIncludeSystem hello.c 2>&1
shellcheck shellcheck -f gcc script.sh
strace    strace -f -e trace=write -o log ./hello; grep -c write log; rm log
ninja     cp build.ninja.in build.ninja; ninja --quiet && ./n1; ninja -t clean >/dev/null; rm -f build.ninja .ninja_log .ninja_deps
cmake     cmake -S proj -B cm -DCMAKE_BUILD_TYPE=Release >/dev/null && make -s -C cm >/dev/null && cm/app; rm -r cm
scons     scons -Q -s -C proj && proj/sapp; scons -Q -s -C proj -c >/dev/null; rm -rf proj/.sconsign.dblite
aspell    aspell -d en list <text.md | sort | uniq -c
hunspell  hunspell -d en_US -l text.md | sort | uniq -c
espeak    espeak-ng -w e.wav 'hello profiler' && cksum <e.wav; rm e.wav
gpg       export GNUPGHOME=$PWD/g; mkdir -m 700 g; gpg --batch --quiet --pinentry-mode loopback --passphrase x --symmetric --cipher-algo AES256 -o words.gpg words && gpg --batch --quiet --pinentry-mode loopback --passphrase x -d words.gpg | cksum; gpgconf --kill all; rm -rf g words.gpg
openssl   for c in aes-256-cbc aes-128-ctr chacha20 camellia-128-cbc; do openssl enc -$c -pbkdf2 -k x -S 0011223344556677 -in words | cksum; openssl enc -$c -pbkdf2 -k x -S 0011223344556677 -in words | openssl enc -d -$c -pbkdf2 -k x -S 0011223344556677 | cksum; done; for d in sha1 sha256 sha512 sha3-256 blake2b512 md5 sm3; do openssl dgst -$d words; done
nettle    nettle-hash -a sha3_256 words; nettle-hash -a ripemd160 words
hashdeep  hashdeep -c md5,sha1,sha256,tiger,whirlpool -b words | tail -1
rhash     rhash --all --simple words | cksum
argon2    echo -n pass | argon2 saltsalt -t 2 -m 12 -p 1 -l 24 -r
figlet    figlet profiler; toilet -f mono9 umbra
povray    povray -D +Iscene.pov +Opic.ppm +W64 +H48 +FP -GA +WT1 2>/dev/null; grep -av '^#' pic.ppm | cksum; rm pic.ppm
tesseract pbmtext 'HELLO 12345' 2>/dev/null | pnmscale 4 | pnmtopng >t.png 2>/dev/null; OMP_THREAD_LIMIT=1 tesseract t.png - 2>/dev/null | tr -d '\f'; rm t.png
zbar      qrencode -o q.png -s 6 'hello profiler' && zbarimg -q --raw q.png; cksum <q.png; rm q.png
barcode   barcode -b 123456789012 -e ean13 -S | cksum
exiv2     ppmtojpeg image.ppm >i.jpg 2>/dev/null; exiv2 -M'set Exif.Image.Artist me' i.jpg; exiv2 -pe i.jpg; exiftool -Artist i.jpg; mediainfo --Output='General;%Format% %FileSize%' i.jpg; rm i.jpg
tree      tree --noreport tree | head -50; jdupes -r -q tree | sort
moreutils seq 100 | shuf --random-source=words | sponge | ifne sort -n | cksum; combine words and words | cksum
pv        pv -q words | cksum
socat     socat -u FILE:words - | cksum; socat -u OPEN:words EXEC:'cksum'
sysbench  sysbench cpu --cpu-max-prime=2000 --events=200 --time=0 run | grep -c 'total number of events: *200'
rrdtool   rrdtool create a.rrd --start 1000000000 --step 60 DS:x:GAUGE:120:U:U RRA:AVERAGE:0.5:1:100 && for i in 1 2 3 4 5 6 7 8 9; do rrdtool update a.rrd $((1000000000 + i * 60)):$((i * i)); done; rrdtool fetch a.rrd AVERAGE -s 1000000000 -e 1000000540; rm a.rrd
zsh       zsh -f -c 'typeset -A h; for i in {1..20000}; do h[$((i%97))]=$((${h[$((i%97))]:-0}+i)); done; print ${h[13]}; (exit 3); print $?; trap "print t" EXIT'
fish      HOME=$PWD XDG_CONFIG_HOME=$PWD/.c fish --no-config -c 'set s 0; for i in (seq 500); set s (math $s + $i); end; echo $s; string repeat -n 3 ab'
ksh       ksh -c 'typeset -A h; for ((i=0;i<20000;i++)); do ((h[$((i%97))]+=i)); done; echo ${h[13]}; function f { return 7; }; f; echo $?'
tcsh      tcsh -f -c '@ s = 0; foreach i (`seq 500`); @ s += $i; end; echo $s' 2>&1; echo 'set a=(1 2 3); echo $#a' | tcsh -f
yash      yash -c 'i=0 s=0; while [ $i -lt 5000 ]; do s=$((s+i)); i=$((i+1)); done; echo $s; trap "echo bye" EXIT'
patchutils diff -u words words2 >d; filterdiff -i words2 d | cksum; interdiff d d; lsdiff d; rm d
wdiff     wdiff -s words words2 | cksum; dos2unix <words | cksum; enscript -q -B -p - words.ms | grep -v '%%CreationDate' | cksum
a2ps      a2ps -q -o - --medium=A4 hello.c | grep -v '^%%CreationDate\|^%%For\|(.*20[0-9][0-9]' | wc -l; cowsay -f default moo
sassc     printf '$a: 3px; @mixin m($x) { width: $x * 2; } .b { @include m($a); .c { color: lighten(#123456, 20%%); } }' | sassc --stdin
postgres  pg=$(echo /usr/lib/postgresql/*/bin); as=; if [ $(id -u) = 0 ]; then as='setpriv --reuid=65534 --regid=65534 --clear-groups'; mkdir cl && chown 65534 cl; else mkdir cl; fi; $as $pg/initdb -D cl -A trust -U me --no-sync >/dev/null 2>&1; s() { $as $pg/pg_ctl -D cl -l cl/log -o "-k $PWD/cl -c listen_addresses= " -w start >/dev/null; }; q() { $as $pg/psql -X -h $PWD/cl -U me -d postgres -At -c "$1" 2>&1; }; s; q 'create table t as select i, md5(i::text) m from generate_series(1,20000) i; checkpoint; update t set m = reverse(m) where i % 3 = 0'; kill -9 $(head -1 cl/postmaster.pid); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.5; rm -f cl/postmaster.pid; s 2>/dev/null && break; done; q 'select count(*), sum(i), max(m) from t'; $as $pg/pg_ctl -D cl -w stop >/dev/null; rm -r cl
chromium  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --user-data-dir=$PWD/ch --dump-dom page.html 2>/dev/null; rm -rf ch
libreoffice HOME=$PWD libreoffice --headless --norestore -env:UserInstallation=file://$PWD/lo --convert-to csv:"Text - txt - csv (StarCalc)":44,34,76 --outdir out data.ods >/dev/null 2>&1; cksum out/data.csv; rm -rf out lo .config .cache
END_OF_TABLE
}

prepare_more()
{
    HOME=$PWD libreoffice --headless "-env:UserInstallation=file://$PWD/lo" --convert-to ods data.csv >/dev/null 2>&1 || true
    rm -rf lo .config .cache
}

all_as_natively
