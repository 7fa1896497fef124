package cli

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// What is added to the scripts that cobra makes.
var (
	//go:embed shell/quoted.bash
	quotedInBash string
	//go:embed shell/quoted.zsh
	quotedInZsh string
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion(streams *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion (bash|zsh|fish|powershell)",
		Short: "Print a script that completes commands in a shell",
		Long: `Print a script that completes the commands and flags of kubectl-dra in a shell.

For kubectl dra itself, kubectl asks a program kubectl_complete-dra in the PATH.
Make it a link to this one:

  ln -s "$(command -v kubectl-dra)" ~/.local/bin/kubectl_complete-dra

In bash and zsh, kubectl's own script does not complete inside quotes, where
selectors are written. This one does, for kubectl too, if it is loaded after that
of kubectl. PowerShell gets only the script that cobra generates.`,
		Example: `  # bash, in ~/.bashrc, after kubectl's own
  source <(kubectl dra completion bash)

  # zsh, in ~/.zshrc, after compinit and kubectl's own
  source <(kubectl dra completion zsh)

  # fish, in ~/.config/fish/config.fish
  kubectl dra completion fish | source`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one shell: %s", commaList(shells))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), streams.Out
			switch args[0] {
			case "bash":
				return withAddition(out, quotedInBash, root.GenBashCompletionV2(out, true))
			case "zsh":
				return withAddition(out, quotedInZsh, root.GenZshCompletion(out))
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usagef("unknown shell %q; there are %s", args[0], commaList(shells))
		},
	}
	completeArguments(cmd, "shells", first(fixed(shells...)))
	return cmd
}

// withAddition prints what follows a script that was printed, unless that failed.
func withAddition(out io.Writer, text string, err error) error {
	if err == nil {
		_, err = fmt.Fprint(out, text)
	}
	return err
}
