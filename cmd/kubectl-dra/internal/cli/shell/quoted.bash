
# A selector is quoted on the command line. The functions above, and those of kubectl, have the shell evaluate the line as far as it
# is typed, which fails while a quote is open. So words in quotes that are still open are completed here.
__kubectl_dra_quoted()
{
    local line=${COMP_LINE:0:COMP_POINT} quote='' start=0 i c
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        case $quote$c in
            \\ | \"\\) ((i++)) ;;
            \' | \") quote=$c start=$((i + 1)) ;;
            \'\' | \"\") quote='' ;;
        esac
    done
    [[ -n $quote ]] || return 1

    local typed=${line:start} out directive comp
    out=$(eval "kubectl-dra __complete ${line#*dra }$quote" 2>/dev/null)
    directive=${out##*:}
    out=${out%:*}
    COMPREPLY=()
    while IFS='' read -r comp; do
        comp=${comp%%$'\t'*}
        if [[ $quote == \" ]]; then
            comp=${comp//\\/\\\\}
            comp=${comp//\"/\\\"}
        elif [[ $comp == *\'* ]]; then
            continue
        fi
        [[ -n $comp && $comp == "$typed"* ]] && COMPREPLY+=("$comp")
    done <<<"$out"
    if [[ $(type -t compopt) == builtin ]]; then
        compopt +o default
        ((directive & 2)) && compopt -o nospace
    fi
    # Of a single word bash would close the quote, where more is to follow.
    ((directive & 2 && ${#COMPREPLY[@]} == 1)) && COMPREPLY+=("${COMPREPLY[0]} ")
    return 0
}

__kubectl_dra_or_quoted()
{
    __kubectl_dra_quoted || __start_kubectl-dra "$@"
}

__kubectl_or_dra_quoted()
{
    [[ ${COMP_WORDS[1]} == dra ]] && __kubectl_dra_quoted || __start_kubectl "$@"
}

complete -o default -F __kubectl_dra_or_quoted kubectl-dra
if declare -F __start_kubectl >/dev/null; then
    complete -o default -F __kubectl_or_dra_quoted kubectl
fi
