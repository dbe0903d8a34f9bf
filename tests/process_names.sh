#!/bin/bash
# Processes go by the name that their program was run as, also where that is a link; --process finds it.
# pprof's profile has the program's own file first, though its libraries were entered before.
# needs: gcc protobuf-compiler
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
cat >check.c <<'END'
__attribute__((noinline)) void check_work(int n) { __asm__ volatile("" :: "r"(n)); }
int main(void) { for (int i = 0; i < 7; i++) check_work(i); return 0; }
END
mkdir 'some dir'
gcc -g -O1 check.c -o check-file
ln -s check-file server
cp check-file 'some dir/tool'
umbra record --quiet -o r.data -- sh -c './server one two; "./some dir/tool" x; true'

# named NAME: in a profile by thread, as PID has it
named()
{
    umbra report --output-format=speedscope -o - "--process=$1" r.data >profile 2>said || fail "--process=$1: $(<said)"
    contains profile "\"name\":\"$1 [0-9]+[ :]"
}
named server
named tool
named sh
for pattern in check-file "$work/check-file" 'serv*'; do
    umbra report --output-format=tsv -o - "--process=$pattern" r.data >profile
    contains profile check_work
done

umbra report --output-format=pprof -o - --process=server r.data | gunzip |
    protoc --decode=umbra.pprof.Profile -I"$TESTS/../grinder/formats" pprof.proto >decoded
number=$(awk '/^mapping/ { on = 1 } on && /filename:/ { print $2; exit }' decoded)
mapfile -t strings < <(sed -n 's/^string_table: //p' decoded)
equal "File:" "${strings[number]}" "\"$work/check-file\""
