package cli

import "github.com/spf13/cobra"

var shells = []string{"bash", "zsh", "fish", "powershell"}

// newCompletion returns the command completion, which prints a script for a shell.
func newCompletion(streams *streams) *cobra.Command {
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
				return usagef("name one shell: %s", commaList(shells))
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
			return usagef("unknown shell %q; there are %s", args[0], commaList(shells))
		},
	}
	completeArguments(cmd, "shells", first(fixed(shells...)))
	return cmd
}
