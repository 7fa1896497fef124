package about

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// versionOptions are what version is asked.
type versionOptions struct {
	sources.Options
	plugin *output.Version // what is known without a server
	client bool
}

// NewVersion returns the command version, of a plugin of which this is known.
func NewVersion(streams *console.Streams, reader *sources.Reader, plugin *output.Version) *cobra.Command {
	o := &versionOptions{Options: sources.Options{Streams: streams, Reader: reader}, plugin: plugin}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin and of the server",
		Args:  console.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.client, "client", false, "do not ask the server")
	console.AddOutputFlags(cmd, &o.Format, output.ObjectFormats)
	return cmd
}

// run prints the plugin's version even when the server's cannot be read; that is then the error.
func (o *versionOptions) run(ctx context.Context) error {
	v := o.plugin
	var failed error
	if !o.client && !o.Reader.Offline() {
		v.ServerVersion, failed = o.Reader.Connection.ServerVersion(ctx)
	}
	err := o.Answer(v, func(w io.Writer, _ text.Options) error { return output.PrintVersion(w, v) }, console.ExitAnswered)
	return errors.Join(err, failed)
}
