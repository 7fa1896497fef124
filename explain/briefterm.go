package explain

import (
	"cmp"
	"context"
	"regexp"
	"strings"
)

// fieldIn finds fields of the device, by their two spellings.
var fieldIn = regexp.MustCompile(`device\.(?:attributes|capacity)\["[^"\\]+"\](?:\.\??(\w+)|\[\??"([^"\\]+)"\])`)

// briefTerm leaves out of a term the domains of the fields, where their names tell them apart. It is for reading;
// what is written into a selector is the whole term.
func briefTerm(term string) string {
	fields := map[string]string{}
	for _, m := range fieldIn.FindAllStringSubmatch(term, -1) {
		domain := m[0][:strings.LastIndexByte(strings.TrimSuffix(m[0], "]"), ']')+1]
		if known, ok := fields[m[1]+m[2]]; ok && known != domain {
			return term
		}
		fields[m[1]+m[2]] = domain
	}
	return fieldIn.ReplaceAllString(term, "$1$2")
}

// brief says a term in short: as its comparison if it is a plain one.
func (q *question) brief(ctx context.Context, term string) string {
	return cmp.Or(q.comparison(ctx, term).words(), briefTerm(term))
}
