package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// versionOptions are what version is asked.
type versionOptions struct {
	shared
	plugin *output.Version // what is known without a server
	client bool
}

// newVersion returns the command version, of a plugin of which this is known.
func newVersion(streams *streams, reader *reader, plugin *output.Version) *cobra.Command {
	o := &versionOptions{shared: shared{streams: streams, reader: reader}, plugin: plugin}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin and of the server",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.client, "client", false, "do not ask the server")
	addOutputFlags(cmd, &o.format, output.ObjectFormats)
	return cmd
}

// run prints the plugin's version even when the server's cannot be read; that is then the error.
func (o *versionOptions) run(ctx context.Context) error {
	v := o.plugin
	var failed error
	if !o.client && !o.reader.offline() {
		v.ServerVersion, failed = o.reader.connection.serverVersion(ctx)
	}
	err := o.answer(v, func(w io.Writer, _ text.Options) error { return output.PrintVersion(w, v) }, exitAnswered)
	return errors.Join(err, failed)
}
