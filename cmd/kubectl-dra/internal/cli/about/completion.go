package about

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

// NewCompletion returns the command completion, which prints a script for a shell.
func NewCompletion(streams *console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion (bash|zsh|fish|powershell)",
		Short: "Print a script that completes commands in a shell",
		Long: `Print a script that completes the commands and flags of kubectl-dra in a shell.

For kubectl dra itself, kubectl asks a program kubectl_complete-dra in the PATH.
Make it a link to this one:

  ln -s "$(command -v kubectl-dra)" ~/.local/bin/kubectl_complete-dra

PowerShell gets the script that cobra generates, which is not tested.`,
		Example: `  # bash, in ~/.bashrc
  source <(kubectl dra completion bash)

  # zsh, in ~/.zshrc, after compinit
  source <(kubectl dra completion zsh)

  # fish, in ~/.config/fish/config.fish
  kubectl dra completion fish | source`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.Usagef("name one shell: %s", console.CommaList(shells))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), streams.Out
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return console.Usagef("unknown shell %q; there are %s", args[0], console.CommaList(shells))
		},
	}
	console.CompleteArguments(cmd, "shells", console.CompleteFirst(console.CompleteWords(shells...)))
	return cmd
}
