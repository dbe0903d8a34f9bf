#!/bin/bash
# The options in $XDG_CONFIG_HOME/umbra/config stand in front of those that are typed, which win; a line that is
# wrong is named with its file; nobody else's file is read.
# needs: gcc
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache HOME=$work/home
unset DISPLAY WAYLAND_DISPLAY
mkdir -p config/umbra home/.config/umbra
config=$work/config/umbra/config
printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >hello.c
gcc -g hello.c -o hello

# configured LINE…: the file has these
configured()
{
    printf '%s\n' "$@" >"$config"
}

# started_with WORD…: the command line of call_trace_service, of umbra record with these
started_with()
{
    umbra record -v "$@" -- ./hello >out 2>said || fail "record $*: $(<said)"
    equal 'the program' "$(<out)" hello
    grep -E '^umbra: \+ .*/call_trace_service start ' said >started
}

# refused PATTERN WORD…: umbra with these ends with status 2 and that line
refused()
{
    local pattern=$1 status=0
    shift
    umbra "$@" >out 2>said || status=$?
    equal "$*: status" "$status" 2
    equal "$*: lines" "$(wc -l <said)" 1
    contains said "^umbra: $config:$pattern; --no-config does without this file\$"
}

echo '-- a file'
configured '# what I type each time' '' "record --samples=500 # twice as rarely" \
    "  record --leave='*/libx # y.so' -q" 'report --text' 'ls --json'
started_with
contains started ' --samples=500 '
equal 'what comes from the file' "$(grep ':[0-9]*: ' said)" "umbra: $config:3: record --samples=500
umbra: $config:4: record --leave=*/libx # y.so -q"
! grep 'recorded in' said || fail '-q of the file'
umbra report >out
contains out '^  timing    samples'
equal 'ls' "$(umbra ls | head -n 1)" '['

echo '-- what is typed wins'
started_with --samples=300
contains started ' --samples=300 '
! grep -e --samples=500 started || fail "both are handed on: $(<started)"
started_with -F 200
contains started ' --samples=200 '
configured 'record --mode=calltrace --how=prologue --output=elsewhere.data'
started_with --mode=profile
contains started ' --mode=profile -- '
[[ -d elsewhere.data ]] || fail 'the recording is not where the file says'
started_with -o here.data --how=copy --timing=exact
contains started ' --how=copy .*\./hello$'
! grep -e --how=prologue started || fail "both are handed on: $(<started)"
[[ -d here.data ]] || fail 'the recording is not where it was said to be'
configured 'report --text'
equal 'a profile instead of text' "$(umbra report --output-format=folded here.data)" here.data/profile.folded
umbra report --mode=summary here.data >out
configured 'report --output-format=folded'
umbra report --text here.data >out
contains out '^  timing    exact'
equal 'a profile' "$(umbra report here.data)" here.data/profile.folded
configured 'report --output-file=there --output-format=tsv'
equal 'a file' "$(umbra report -o here here.data)" here
[[ -s here && ! -e there ]] || fail 'the report is in the file of the config'

echo '-- without it'
configured 'record --samples=500' 'nosuch'
started_with --no-config
! grep -e --samples=500 started || fail '--no-config'
umbra record -o x.data --no-config --timing=exact -- ./hello >out
umbra report --no-config --text x.data >out
umbra ls --no-config >out
umbra record --help >out
equal "the program's own option" "$(umbra record --no-config -q -- echo --no-config)" --no-config

echo '-- a line that is wrong'
refused '2: nosuch: expected a verb: .*' record -- ./hello
refused '2: nosuch: expected a verb: .*' report
configured '' 'record --sampels=3'
refused '2: --sampels=3: umbra record has no such option; .*' record -- ./hello
umbra ls >out
configured 'record --samples'
refused '1: --samples: expected --samples=HZ' record -- ./hello
configured 'record --samples 3'
refused '1: --samples: expected --samples=HZ' record -- ./hello
configured 'record --paused=1'
refused '1: --paused=1: expected --paused, .*' record -- ./hello
configured 'record --paused --'
refused '1: --: umbra record has no such option; .*' record -- ./hello
configured 'record ls'
refused '1: expected an option, found ls; .*' record -- ./hello
configured "record --include='a"
refused '1: a quotation mark is not closed' record -- ./hello
configured 'record --include=a\"'
started_with
for option in --help -h --version --no-config --text -o --hel; do
    configured "record $option"
    refused "1: $option: (umbra record has no such option|expected).*" record -- ./hello
done
configured 'record --how=often'
status=0
umbra record -v -- ./hello >out 2>said || status=$?
equal 'a wrong value' "$status" 2
contains said "^umbra: $config:1: record --how=often"

echo '-- where it is'
rm "$config"
printf 'record --samples=400\n' >home/.config/umbra/config
started_with
! grep -e --samples=400 started || fail '~/.config, though XDG_CONFIG_HOME is set'
for folder in '' relative; do
    XDG_CONFIG_HOME=$folder started_with
    contains started ' --samples=400 '
done
(unset XDG_CONFIG_HOME; started_with; contains started ' --samples=400 ')
(unset XDG_CONFIG_HOME HOME; started_with; ! grep -e --samples=400 started)

echo '-- whose it is'
configured 'record --samples=500'
chmod 0666 "$config"
started_with
contains said "^umbra: $config: is not read: another user owns it, or may write it"
! grep -e --samples=500 started || fail 'a file that everybody may write'
rm "$config"
mkfifo "$config"
started_with
contains said "^umbra: $config: is not read: is not a regular file"
rm "$config"
((EUID == 0)) || { echo 'skipped: another user, for want of rights'; exit 0; }
configured 'record --samples=500'
chown 65534 "$config"
started_with
contains said "^umbra: $config: is not read: another user owns it"
! grep -e --samples=500 started || fail "another user's file"
