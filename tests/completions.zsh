# completions.zsh FOLDER LINE: prints what zsh completes LINE to, one a line, with the functions in FOLDER.
#
# Completion is for a person at a terminal, so a second shell gets one (zsh/zpty). There compadd, by which each
# candidate comes, prints what it is given.
zmodload zsh/zpty
zpty shell zsh -f -i
send() { zpty -w shell "$1"; }
send "PROMPT= RPROMPT=; stty -echo; unsetopt zle_bracketed_paste 2>/dev/null; fpath=(${(q)1} \$fpath)"
send "autoload -Uz compinit; compinit -u -D"
send 'compadd() {
    [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }
    typeset -a taken
    builtin compadd -A taken "$@"
    ((! $#taken)) || print -r -- "<"${(q)^taken}">"
    builtin compadd "$@"
}'
send 'compinit_line() { LBUFFER=$line_to_complete; zle complete-word; BUFFER=; print -r "<end>"; zle accept-line }'
send 'zle -N compinit_line; bindkey "^X" compinit_line'
send "line_to_complete=${(qq)2}; print -r '<be''gin>'"
zpty -r shell text '*<begin>*' || exit 1
zpty -n -w shell $'\x18'
zpty -r shell text '*<end>*' || exit 1
print -r -- $text | grep -oE '<[^<>]+>' | tr -d '<>' | grep -vx end | sort -u
zpty -d shell
