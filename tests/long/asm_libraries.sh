#!/bin/bash
# Libraries with hand-written assembly: how many of their functions are not copied as flags may be in use
# where they call or jump out; and that each does its work as natively, by prologues and by copies, recorded
# and not. LIBRARIES chooses some of them. Prints a table:
#
#      library       hooked   flags  work
# needs: ffmpeg x264 x265 libx264-164 libx265-199 libaom3 libdav1d6 dav1d libvpx7 openssl libssl3 libgmp10 python3-gmpy2 libnettle8 libhogweed6 nettle-bin gnutls-bin libopenh264-7 libjpeg62-turbo libjpeg-turbo-progs libopenblas0-pthread libffi8 libllvm14 libsqlite3-0
. "$(dirname "$0")/../lib.sh"
: "${LIBRARIES:=x264 x265 aom dav1d vpx avcodec avutil swscale crypto gmp nettle hogweed jpeg openblas ffi c openh264}"

at=/usr/lib/x86_64-linux-gnu
video="ffmpeg -nostdin -v error -threads 1 -f lavfi -i testsrc2=size=192x144:rate=10:duration=1.5"
plain='-pix_fmt yuv420p -threads 1 -bitexact'

file_x264=libx264.so.164
work_x264()
{
    # shellcheck disable=SC2086
    for preset in ultrafast medium veryslow; do
        $video $plain -c:v libx264 -preset $preset -f md5 -
    done
    # shellcheck disable=SC2086
    $video -pix_fmt yuv420p10le -threads 1 -bitexact -c:v libx264 -f md5 -
}
file_x265=libx265.so.199
work_x265()
{
    for preset in ultrafast medium; do
        # shellcheck disable=SC2086
        $video $plain -c:v libx265 -preset $preset -x265-params log-level=none:pools=none:frame-threads=1 -f md5 -
    done
}
file_aom=libaom.so.3
work_aom()
{
    # shellcheck disable=SC2086
    $video $plain -frames:v 4 -c:v libaom-av1 -cpu-used 6 -f ivf av1.ivf -y
    cksum <av1.ivf
    ffmpeg -nostdin -v error -threads 1 -c:v libaom-av1 -i av1.ivf -f framemd5 -
}
file_dav1d=libdav1d.so.6
work_dav1d()
{
    dav1d -q -i "$work/given.ivf" --threads 1 -o - --muxer md5
    dav1d -q -i "$work/given.ivf" --threads 1 --filmgrain 0 -o - --muxer yuv | cksum
}
file_vpx=libvpx.so.7
work_vpx()
{
    for codec in libvpx libvpx-vp9; do
        # shellcheck disable=SC2086
        $video $plain -c:v $codec -deadline good -cpu-used 2 -f webm vpx.webm -y
        cksum <vpx.webm
        ffmpeg -nostdin -v error -threads 1 -c:v $codec -i vpx.webm -f framemd5 -
    done
}
file_avcodec=libavcodec.so.59
work_avcodec()
{
    for codec in mpeg4 mjpeg ffv1 huffyuv flv prores; do
        # shellcheck disable=SC2086
        $video -threads 1 -bitexact -c:v $codec -f nut film.nut -y
        cksum <film.nut
        ffmpeg -nostdin -v error -threads 1 -i film.nut -f framemd5 -
    done
    ffmpeg -nostdin -v error -threads 1 -i "$work/given.mp4" -f framemd5 -
    ffmpeg -nostdin -v error -f lavfi -i sine=duration=2 -threads 1 -bitexact -c:a aac -f md5 -
    ffmpeg -nostdin -v error -f lavfi -i sine=duration=2 -threads 1 -bitexact -c:a flac -f md5 -
}
file_avutil=libavutil.so.57
work_avutil()
{
    ffmpeg -nostdin -v error -f lavfi -i sine=duration=2 -threads 1 -bitexact -af volume=0.3,aresample=22050 -f md5 -
    ffmpeg -nostdin -v error -f lavfi -i sine=duration=2 -threads 1 -bitexact -c:a ac3 -f md5 -
}
file_swscale=libswscale.so.6
work_swscale()
{
    local flags
    for flags in bilinear bicubic lanczos area; do
        for format in rgb24 yuv444p nv12 gray16le yuv420p10le; do
            # shellcheck disable=SC2086
            $video -threads 1 -vf "scale=101:77:flags=$flags,format=$format" -bitexact -f md5 -
        done
    done
}
file_crypto=libcrypto.so.3
work_crypto()
{
    local name
    for name in md5 sha1 sha224 sha256 sha384 sha512 sha512-256 sha3-256 sha3-512 shake256 blake2b512 blake2s256 \
        sm3 ripemd160; do
        openssl dgst "-$name" "$work/given.bin"
    done 2>&1
    openssl enc -list | tr -s ' ' '\n' | grep '^-' | while read -r name; do
        openssl enc "$name" -K 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef \
            -iv 00112233445566778899aabbccddeeff -in "$work/given.bin" -out enciphered 2>/dev/null ||
            { echo "$name: none"; continue; }
        echo "$name $(cksum <enciphered)"
        openssl enc -d "$name" -K 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef \
            -iv 00112233445566778899aabbccddeeff -in enciphered 2>/dev/null | cmp - "$work/given.bin" &&
            echo "$name round"
    done
    openssl pkeyutl -sign -inkey "$work/rsa.pem" -in "$work/given.hash" -pkeyopt digest:sha256 | cksum
    openssl pkeyutl -sign -inkey "$work/ec.pem" -in "$work/given.hash" -out signature
    openssl pkeyutl -verify -inkey "$work/ec.pem" -in "$work/given.hash" -sigfile signature
    openssl pkeyutl -sign -inkey "$work/ed.pem" -rawin -in "$work/given.hash" | cksum
    openssl prime 170141183460469231731687303715884105727
    openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt pass:x -kdfopt salt:abcd -kdfopt iter:2000 PBKDF2
    /usr/bin/python3 "$work/handshake.py"
}
file_gmp=libgmp.so.10
work_gmp()
{
    /usr/bin/python3 "$work/numbers.py"
}
file_nettle=libnettle.so.8
work_nettle()
{
    local name
    for name in md5 sha1 sha224 sha256 sha384 sha512 sha3_224 sha3_256 sha3_512 ripemd160 gosthash94 streebog256 sm3; do
        nettle-hash -a "$name" "$work/given.bin" || echo "$name: none"
    done 2>&1
    nettle-pbkdf2 -i 1000 -l 40 salt <<<password
}
file_hogweed=libhogweed.so.6
work_hogweed()
{
    local key
    for key in rsa ec ed; do
        certtool --load-privkey "$work/$key.pem" --pubkey-info --outder | cksum
        certtool --p7-sign --load-privkey "$work/$key.pem" --load-certificate "$work/$key.cert" \
            --infile "$work/given.hash" --outfile signed 2>/dev/null
        certtool --p7-verify --load-certificate "$work/$key.cert" --infile signed 2>&1 | grep -i 'signature' || true
    done
    certtool --verify --load-ca-certificate "$work/rsa.cert" --infile "$work/rsa.cert" 2>&1 | tail -n 1
}
file_jpeg=libjpeg.so.62
work_jpeg()
{
    local options
    for options in '' -progressive '-dct fast' '-dct float' '-sample 1x1' '-quality 30 -optimize' -grayscale -arithmetic; do
        # shellcheck disable=SC2086
        cjpeg $options "$work/given.ppm" >picture.jpg
        cksum <picture.jpg
        for options in '' '-dct fast' '-scale 1/2' '-nosmooth' '-dct float -grayscale'; do
            # shellcheck disable=SC2086
            djpeg $options picture.jpg | cksum
        done
        jpegtran -rotate 90 picture.jpg | cksum
    done
}
file_openblas=openblas-pthread/libopenblas.so.0
work_openblas()
{
    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 "$work/blas.py"
}
file_ffi=libffi.so.8
work_ffi()
{
    /usr/bin/python3 "$work/foreign.py"
}
file_c=libc.so.6
work_c()
{
    sort "$work/given.text" | cksum
    LC_ALL=C sort -n "$work/given.text" | uniq -c | tail -n 3
    grep -c '1[0-9]*7' "$work/given.text"
    sed -E 's/([0-9])\1/<\1>/g' "$work/given.text" | cksum
    awk '{ s += sin($1) + sqrt($1) + log($1 + 1) } END { printf "%.9f\n", s }' "$work/given.text"
    tr 0-9 a-j <"$work/given.text" | cut -c 2- | cksum
    /usr/bin/python3 -c 'print(hash(b"x" * 99) != 0, ("ab" * 5000).find("bb"), "%.17g" % 0.1, float("1e-310"))'
}
file_openh264=libopenh264.so.7
# nothing in Debian's main programs uses it: scanned only

prepare()
{
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=192x144:rate=10:duration=0.6 -pix_fmt yuv420p -threads 1 \
        -c:v libaom-av1 -cpu-used 6 given.ivf
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=192x144:rate=10:duration=2 -pix_fmt yuv420p -threads 1 \
        -c:v libx264 given.mp4
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=203x151 -frames:v 1 -pix_fmt rgb24 given.ppm
    seq 40000 | awk '{ print ($1 * 7919) % 100003 }' >given.text
    head -c 100003 given.text >given.bin
    openssl dgst -sha256 -binary given.bin >given.hash
    openssl genrsa -out rsa.pem 2048 2>/dev/null
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem
    openssl genpkey -algorithm ED25519 -out ed.pem
    local key
    for key in rsa ec ed; do
        openssl req -x509 -new -key $key.pem -out $key.cert -subj /CN=$key -days 9
    done
    cat >handshake.py <<'END'
import os, ssl
work = os.path.dirname(os.path.abspath(__file__))
for key, version, ciphers in (("ec", "TLSv1_3", None), ("rsa", "TLSv1_3", None), ("ec", "TLSv1_2", "ECDHE+AESGCM"),
                              ("rsa", "TLSv1_2", "ECDHE+CHACHA20"), ("rsa", "TLSv1_2", "ECDHE+AES+SHA256")):
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    server.load_cert_chain(f"{work}/{key}.cert", f"{work}/{key}.pem")
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    server.maximum_version = client.maximum_version = ssl.TLSVersion[version]
    if ciphers:
        server.set_ciphers(ciphers)
        client.set_ciphers(ciphers)
    here, there = ssl.MemoryBIO(), ssl.MemoryBIO()
    c, s = client.wrap_bio(here, there), server.wrap_bio(there, here, server_side=True)
    for _ in range(6):
        for side in (c, s):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass
    sent = bytes(range(256)) * 60
    c.write(sent)
    print(c.version(), c.cipher()[0], s.read(16384) == sent)
END
    cat >numbers.py <<'END'
import gmpy2
wrong = 0
for bits in (1, 63, 64, 65, 127, 500, 1000, 4000, 20000, 100000):
    a, b = (1 << bits) - 159 * bits, pow(3, bits // 2 + 1) + 7
    x, y = gmpy2.mpz(a), gmpy2.mpz(b)
    for is_, should in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x * x, a * a), (y // (x or 1), b // (a or 1)),
                        (y % (abs(x) + 1), b % (abs(a) + 1)), (x << 77, a << 77), (y >> 13, b >> 13), (x & y, a & b), (x ^ y, a ^ b), (~x, ~a)):
        wrong += int(is_) != should
    wrong += int(gmpy2.isqrt(y)) ** 2 > b or int(gmpy2.gcd(x * y, y)) != b
    if bits <= 4000:
        wrong += int(gmpy2.powmod(3, y, abs(x) | 1)) != pow(3, b, abs(a) | 1) or str(y) != str(b) if bits < 1000 else 0
    print(bits, hex(hash((int(x * y), int(gmpy2.isqrt(y))))))
print(wrong, "wrong", gmpy2.fac(3000) % (2**127 - 1), gmpy2.next_prime(10**30), gmpy2.is_prime(2**521 - 1), gmpy2.fib(5000) % 10**20)
END
    cat >blas.py <<'END'
import ctypes, os, random
blas = ctypes.CDLL("libopenblas.so.0")
random.seed(1)
N, worst = 65, 0
D, I = ctypes.c_double * (N * N), ctypes.c_int
a, b, c = D(*[random.random() for _ in range(N * N)]), D(*[random.random() for _ in range(N * N)]), D()
blas.cblas_dgemm(101, 111, 111, N, N, N, ctypes.c_double(1), a, N, b, N, ctypes.c_double(0), c, N)
for i in range(N):
    for j in range(N):
        worst = max(worst, abs(c[i * N + j] - sum(a[i * N + k] * b[k * N + j] for k in range(N))))
print("dgemm", worst < 1e-9, c[77].hex(), sum(c).hex())
blas.cblas_ddot.restype = blas.cblas_dnrm2.restype = blas.cblas_dasum.restype = ctypes.c_double
print(blas.cblas_ddot(N * N, a, 1, b, 1).hex(), blas.cblas_dnrm2(N * N, a, 1).hex(), blas.cblas_dasum(N * N, a, 1).hex(),
      blas.cblas_idamax(N * N, a, 1))
F = ctypes.c_float * (N * N)
x, y = F(*a), F(*b)
z = F()
blas.cblas_sgemm(101, 112, 111, N, N, N, ctypes.c_float(2), x, N, y, N, ctypes.c_float(0), z, N)
blas.cblas_saxpy(N * N, ctypes.c_float(0.5), x, 1, y, 1)
print("sgemm", sum(z).hex(), "saxpy", sum(y).hex())
for i in range(N):
    a[i * N + i] += N
blas.cblas_dtrsm(101, 141, 121, 111, 131, N, N, ctypes.c_double(1), a, N, b, N)
pivots, info = (I * N)(), I()
blas.dgetrf_(ctypes.byref(I(N)), ctypes.byref(I(N)), a, ctypes.byref(I(N)), pivots, ctypes.byref(info))
print("dtrsm", sum(b).hex(), "dgetrf", info.value, sum(a).hex(), sum(pivots))
END
    cat >foreign.py <<'END'
import ctypes
libc, libm = ctypes.CDLL(None), ctypes.CDLL("libm.so.6")
class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * 999)(*[(i * 7919) % 1009 for i in range(999)])
libc.qsort(numbers, 999, 4, kind(lambda a, b: a[0] - b[0]))
print(list(numbers) == sorted(numbers))
libm.pow.restype, libm.pow.argtypes = ctypes.c_double, [ctypes.c_double] * 2
libm.fmaf.restype, libm.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
print([libm.pow(i, 0.5) for i in range(5)], libm.fmaf(1.5, 2.5, 3.5))
libc.div.restype = type("D", (ctypes.Structure,), {"_fields_": [("q", ctypes.c_int), ("r", ctypes.c_int)]})
print([(d.q, d.r) for d in (libc.div(i, 7) for i in range(20, 50, 7))])
for result, types in ((ctypes.c_double, [ctypes.c_double] * 9), (ctypes.c_longlong, [ctypes.c_longlong] * 9),
                      (ctypes.c_ubyte, [ctypes.c_short, ctypes.c_float] * 4), (ctypes.c_float, [ctypes.c_int, ctypes.c_double] * 5)):
    back = ctypes.CFUNCTYPE(result, *types)(lambda *a: int(sum(a)) % 256)
    print(back(*range(1, len(types) + 1)))
buffer = ctypes.create_string_buffer(99)
libc.snprintf(buffer, 99, b"%d %s %.3f %ld", 7, b"x", ctypes.c_double(2.5), ctypes.c_long(1 << 40))
print(buffer.value)
END
}

# in_folder FOLDER NAME COMMAND…: NAME's work below COMMAND, with FOLDER/lib in front of the system's
in_folder()
{
    local folder=$1 name=$2
    shift 2
    mkdir -p here
    LIMIT=280
    run here env LD_LIBRARY_PATH="$work/$folder/lib" "$@" bash -c \
        "$(declare -p work video plain); $(declare -f "work_$name"); work_$name"
    rm -rf here
    local part
    for part in stdout stderr status; do mv "here.$part" "${folder%%-*}.$part"; done
}

# works NAME: as natively, in each way
works()
{
    local name=$1 how
    in_folder native "$name"
    if [[ ! -s native.stdout ]] || grep -E 'command not found|Traceback' native.stderr >&2; then
        fail "$name does not work natively"
    fi
    for how in prologue copy; do
        rm -rf instrumented
        mkdir -p instrumented/lib
        instrument "$library" -o "instrumented/lib/${library##*/}" --how=$how >instrumented.line
        in_folder instrumented "$name"
        compare_runs "$name, $how"
        rm -rf traces
        in_folder instrumented "$name" "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" --
        compare_runs "$name, $how, recorded"
        balanced
    done
}

prepare
result=0
printf '%-14s %9s %7s  %s\n' library hooked flags work
for name in $LIBRARIES sqlite3 python3.11 stdc++ LLVM-14; do
    file=file_$name
    case $name in
        sqlite3 | stdc++ | LLVM-14) library=$(echo $at/lib"$name".so.*) library=${library%% *} ;;
        python3.11) library=/usr/bin/python3.11 ;;
        *) library=$at/${!file} ;;
    esac
    [[ -e $library ]] || fail "no $library"
    instrument --list --how=copy "$library" >listed
    hooked=$(awk -F '\t' '$3 == "hooked"' listed | wc -l)
    flags=$(awk -F '\t' '$6 == "flags"' listed | wc -l)
    did='listed only'
    if declare -f "work_$name" >/dev/null; then
        if (works "$name") 2>problem; then
            did='as natively in both ways, recorded and not'
        else
            did="DIFFERS: $(tail -n 1 problem)"
            head -n 20 problem >&2
            result=1
        fi
    fi
    printf '%-14s %9s %7s  %s\n' "$name" "$hooked" "$flags" "$did"
    # Of what compilers make next to nothing is lost.
    if [[ $name == @(sqlite3|python3.11|stdc++|LLVM-14) ]] && ((flags * 1000 > hooked)); then
        result=1
        echo "$name: too many functions are not copied for their flags"
    fi
done
((result == 0)) || fail "see above"
