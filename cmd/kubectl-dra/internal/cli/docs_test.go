package cli

import (
	"os"
	"strings"
	"testing"
)

// TestDocumentsCommands checks that every command in the pages about what would happen and what has happened can be given.
func TestDocumentsCommands(t *testing.T) {
	for page, least := range map[string]int{"plan.md": 15, "history.md": 6} {
		data, err := os.ReadFile("../../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		commands := 0
		for _, block := range codeBlocks(string(data), "sh") {
			for line := range strings.Lines(block) {
				line, _, _ = strings.Cut(line, "#")
				if args, ok := strings.CutPrefix(strings.TrimSpace(line), "kubectl dra "); ok {
					commands++
					acceptable(t, strings.Fields(args))
				}
			}
		}
		if commands < least {
			t.Errorf("%s: only %d commands were found", page, commands)
		}
	}
}
