
# A selector is quoted on the command line. The functions above, and those of kubectl, have the shell evaluate the line as far as it
# is typed, which fails while a quote is open. And they take what stands before "=" for a flag wherever there is a dash in it, as
# in -o custom-columns=NAME:.name. So such words are completed here.
_kubectl_dra_quoted()
{
    local quote=${compstate[quote]} out first=2
    local -a found suffix
    [[ -n $quote || ( $PREFIX != -* && $PREFIX == *-*=* ) ]] || return 1
    [[ ${words[2]} == dra ]] && first=3
    out=$(eval "kubectl-dra __complete ${words[first,CURRENT-1]} ${QIPREFIX}${PREFIX}$quote" 2>/dev/null)
    found=(${(f)out})
    (( ${found[-1]#:} & 2 )) && suffix=(-S '')
    found=(${found[1,-2]%%$'\t'*}) # the last line is the directive
    compadd "${suffix[@]}" -- $found
    return 0
}

_kubectl_dra_or_quoted()
{
    _kubectl_dra_quoted || _kubectl-dra "$@"
}

_kubectl_or_dra_quoted()
{
    [[ ${words[2]} == dra ]] && _kubectl_dra_quoted || _kubectl "$@"
}

compdef _kubectl_dra_or_quoted kubectl-dra
if (( $+functions[_kubectl] )); then
    compdef _kubectl_or_dra_quoted kubectl
fi
