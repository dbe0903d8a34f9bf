#!/bin/bash
# A recording of many processes: the report begins with their tree, has little ones in one line, and then
# the profile of the one that took most; --process chooses another, --process='*' all.
# needs: gcc
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
cat >busy.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void busy_work(int n) { __asm__ volatile("" :: "r"(n)); }
int main(int count, char **arguments)
{
    const int times = atoi(arguments[count - 1]);
    for (int i = 0; i < times; i++)
        busy_work(i);
    return 0;
}
END
sed s/busy/small/ busy.c >small.c
gcc -g -O1 busy.c -o busy
gcc -g -O1 small.c -o small
cat >wrapper <<'END'
#!/bin/sh
for i in 1 2 3 4 5 6 7; do ./small $i; done
sh -c './busy 30000000; true'
END
chmod +x wrapper
umbra record --quiet -o r.data -- ./wrapper
umbra report --text --top=500 r.data >text

contains text '^10 processes; \* is shown below, another with --process=PID\|NAME$'
equal "first line" "$(head -n 1 text | cut -c 1-12)" "10 processes"
contains text '^ +[0-9.]+ +([0-9.]+|-) +[0-9]+ +[0-9]+  /bin/sh ./wrapper$'
contains text '^ +[0-9.]+ +([0-9.]+|-) +[0-9]+ +[0-9]+    sh -c ./busy 30000000; true$'
contains text '^ +[0-9.]+ +[0-9.]+ +300[0-9]{5} +[0-9]+\*     \./busy 30000000$'
contains text '^ +- +([0-9.]+|-) +[0-9]+ +7 more, each less than 1%$'
(($(head -n 6 text | awk '{ print length }' | sort -n | tail -n 1) <= 80)) || fail "more than 80 columns"
contains text ' busy_work$'
! grep -q small_work text || fail "another process's functions"
equal "processes described" "$(grep -c '^process ' text)" 1
umbra report --text --top=500 --process=small r.data >text
contains text ' small_work$'
! grep -q busy_work text || fail "--process=small: another process's functions"
umbra report --text --top=500 --process='*' r.data >text
contains text ' busy_work$'
contains text ' small_work$'

# The page has that process alone.
umbra report r.data >page
page=$(<page)
contains "$page" busy_work
! grep -q small_work "$page" || fail "the page has another process's functions"
contains "$page" '"tree":\{"depth":\[0,1,2,0\],'

# One process has no tree.
umbra record --quiet -o one.data -- ./small 3
umbra report --text --top=500 one.data >text
equal "first word" "$(head -n 1 text | cut -d ' ' -f 1)" process

echo '-- one that replaces itself is one process'
umbra record -o itself.data -- sh -c 'exec sh -c :' 2>said
[[ $(ls itself.data/traces/*.bin | wc -l) == 2 ]] || fail "$(ls itself.data/traces)"
contains said '^umbra: 1 process recorded'
equal "listed" "$(umbra ls --json itself.data | jq '.[0].processes')" 1
mkdir a_folder_with_a_rather_long_name
mv itself.data a_folder_with_a_rather_long_name
equal "columns" "$(umbra ls a_folder_with_a_rather_long_name | awk '{ print index($0, NR == 1 ? "began" : "20") }' | uniq | wc -l)" 1
