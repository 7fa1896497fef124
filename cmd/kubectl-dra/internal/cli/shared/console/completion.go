package console

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
)

// Completes is the key of an annotation of commands and flags: what is offered for an argument or a value, in
// words for the documentation.
const Completes = "kubectl-dra.dev/completes"

// Completion is what cobra wants of a function that completes.
type Completion = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// completionOf is the key in the context of a command of what completes its flag of that name.
type completionOf string

// CompleteFlag completes the values of a flag of the command. what says what is offered. How it is done waits
// in the context of the command for Completions.
func CompleteFlag(cmd *cobra.Command, flag, what string, complete Completion) {
	f := cmd.Flag(flag) // the command has it, or every run would panic here
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[Completes] = []string{what}
	cmd.SetContext(context.WithValue(contextOf(cmd), completionOf(flag), complete))
}

func contextOf(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// Completions takes what completes flags out of the contexts of all commands of a tree, and returns what
// tells cobra of it. Only who completes may call that: cobra's table keeps the flags, and with them what
// they are parts of, for as long as the process lives. Where nothing was said of arguments
// and flags, shells offer no files.
func Completions(cmd *cobra.Command) (register func()) {
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = CompleteNothing
	}
	said := contextOf(cmd)
	cmd.SetContext(nil) //nolint:staticcheck // that of who runs it
	var below []func()
	for _, sub := range cmd.Commands() {
		below = append(below, Completions(sub))
	}
	return func() {
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				complete, ok := said.Value(completionOf(f.Name)).(Completion)
				if !ok {
					complete = CompleteNothing
				}
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // fails for what Flags has of PersistentFlags
			})
		}
		for _, register := range below {
			register()
		}
	}
}

// CompleteArguments completes the arguments of the command. what says what is offered, in their order.
func CompleteArguments(cmd *cobra.Command, what string, complete Completion) {
	cmd.ValidArgsFunction = complete
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[Completes] = what
}

// CompleteFiles has the shell complete the names of files.
func CompleteFiles(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		CompleteFlag(cmd, flag, "files", CompletePaths)
	}
}

// CompleteDirectories has the shell complete the names of directories.
func CompleteDirectories(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		CompleteFlag(cmd, flag, "directories", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		})
	}
}

// CompletePaths has the shell complete the names of files.
func CompletePaths(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteNothing offers nothing.
func CompleteNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeFormats completes -o. What wants an argument is followed by "=" and no blank.
func completeFormats(names []string) Completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, name := range names {
			if output.NeedsArgument(name) {
				name += "="
			}
			words = append(words, name)
		}
		found, directive := WithPrefix(words, nil, prefix)
		if len(found) > 0 && !slices.ContainsFunc(found, func(word string) bool { return !strings.HasSuffix(word, "=") }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// CompleteWords completes one of a few words.
func CompleteWords(words ...string) Completion {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return WithPrefix(words, nil, prefix)
	}
}

// CompleteFirst completes the first argument alone.
func CompleteFirst(complete Completion) Completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, prefix)
	}
}

// WithPrefix returns the names that begin with the prefix and are not given yet, each once. What a shell
// would not take as a plain word is left out.
func WithPrefix(names, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var out []string
	seen := map[string]bool{}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) && !seen[name] && !slices.Contains(given, name) && plainWord(name) {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// plainWord reports whether a shell takes a text as it is: as one word that is no flag, without quotes. Where
// several names have a beginning in common, shells put it on the line unquoted, and the line is evaluated
// when the next word is completed. All names of Kubernetes are plain; what files, labels and attributes say
// need not be.
func plainWord(text string) bool {
	if text == "" || text[0] == '-' || text[0] == '=' {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return !plainRune(r) })
}

func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@=+,", r)
}
