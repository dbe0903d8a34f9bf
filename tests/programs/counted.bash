# The shell's own work: functions, arithmetic, arrays, expansions, patterns. No children.
fib()
{
    if (($1 < 2)); then
        result=$1
        return
    fi
    local first
    fib $(($1 - 1))
    first=$result
    fib $(($1 - 2))
    result=$((first + result))
}
fib 10
echo "$result"
declare -A named
for ((i = 0; i < 300; i++)); do
    named[k$i]=$((i * 7919 % 1007))
    list[i]=x$i
done
sum=0
for key in "${!named[@]}"; do
    ((sum += ${named[$key]}))
done
echo "$sum ${#list[@]} ${list[*]:7:3}"
for word in one two three four; do
    case $word in
        t*) echo "${word^^} ${word/e/E}" ;;
        *) printf '%05d %s\n' ${#word} "$word" ;;
    esac
done
text=abcabcabc
echo "${text//b/_} ${text%%c*} ${text:2:4}"
[[ $text =~ (c.)+ ]] && echo "${BASH_REMATCH[0]}"
while read -r first second; do
    echo "$second $first"
done <<<$'1 2\n3 4'
