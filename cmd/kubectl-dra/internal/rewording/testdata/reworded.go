// This file is added to the copy of package words that TestRewording compiles.
package words

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unicode"
)

// wording is the way in which everything is said.
var wording = os.Getenv("KUBECTL_DRA_REWORDING")

// told counts the sentences.
var told atomic.Int64

// RewordedLiteral says a literal in other words. Verbs of fmt and spaces at the ends stay.
func RewordedLiteral(s string) string {
	switch wording {
	case "marked":
		return "«" + s + "»"
	case "turned":
		return turned(s)
	}
	return s
}

// RewordedField says what is assigned to a field for prose in other words; what is empty stays so.
func RewordedField[T any](v T) T {
	switch v := any(&v).(type) {
	case *string:
		*v = sentence(*v)
	case *[]string:
		if *v == nil {
			break
		}
		list := make([]string, len(*v))
		for i, s := range *v {
			list[i] = sentence(s)
		}
		*v = list
	}
	return v
}

func sentence(s string) string {
	switch {
	case s == "":
	case wording == "same":
		return "x"
	case wording == "unique":
		return fmt.Sprintf("%s ~%d", s, told.Add(1))
	}
	return s
}

var joints = map[string]string{", ": " / ", "; ": " | ", ": ": " = ", ", and ": " & "}

// turned replaces words by others and reverses their order; verbs stay where they are.
func turned(s string) string {
	if joint, ok := joints[s]; ok {
		return joint
	}
	core := strings.TrimSpace(s)
	at := strings.Index(s, core)
	tokens := strings.Split(core, " ")
	var plain []int
	for i, token := range tokens {
		if !strings.Contains(token, "%") {
			plain = append(plain, i)
		}
	}
	out := append([]string(nil), tokens...)
	for i, n := range plain {
		out[n] = strings.Map(other, tokens[plain[len(plain)-1-i]])
	}
	return s[:at] + strings.Join(out, " ") + s[at+len(core):]
}

func other(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	case unicode.IsPunct(r) && r != '(' && r != ')':
		return '·'
	}
	return r
}
