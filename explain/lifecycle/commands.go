package lifecycle

import (
	"regexp"
	"slices"
	"strings"
)

// plainWord is what a shell takes for nothing but a word, and kubectl for no flag. The names of objects in a
// file can be anything.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9._:/=]*$`)

// flags are those of the commands that are proposed.
var flags = []string{"-A", "-n", "-c", "-o", "--previous", "--all-containers", "--since=1h", "--field-selector"}

// commands joins the words of commands. A command with a word that might not be taken as it is meant is left
// out.
func commands(list ...[]string) []string {
	var out []string
	for _, words := range list {
		unclear := slices.ContainsFunc(words, func(w string) bool { return !plainWord.MatchString(w) && !slices.Contains(flags, w) })
		if len(words) > 0 && !unclear {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// describe is the command that tells all of an object, with its Events.
func describe(kind, namespace, name string) []string {
	if namespace == "" {
		return []string{"kubectl", "describe", kind, name}
	}
	return []string{"kubectl", "describe", kind, "-n", namespace, name}
}
