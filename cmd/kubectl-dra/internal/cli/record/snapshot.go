package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
)

// snapshotOptions are the flags of kubectl dra snapshot.
type snapshotOptions struct {
	streams          *console.Streams
	connection       *sources.Connection
	reader           *sources.Reader
	memory           *sources.Memory
	output           string
	anonymize, force bool
}

// NewSnapshot returns the command snapshot.
func NewSnapshot(streams *console.Streams, connection *sources.Connection, reader *sources.Reader, memory *sources.Memory) *cobra.Command {
	o := &snapshotOptions{streams: streams, connection: connection, reader: reader, memory: memory}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save everything a question needs into one file, which --from reads",
		Long: `Save everything a question needs into one file: claims, devices, classes, nodes,
pods and the like, with the time, the features and what could not be read. Every
command takes the file with --from and gives the answers that it gives here.

It leaves out the environment, commands and images of pods, annotations, and the
parameters of storage classes; Secrets are never read. Parameters for drivers in
claims and classes are kept, unless --anonymize is given.

--anonymize replaces all names and all other text. The same text is replaced in the
same way everywhere, in selectors too, so that the answers stay the same. Numbers,
times and public words are kept: those of the Kubernetes API, and published drivers
with the names of their classes and attributes.

The file is compressed protobuf, unless its name ends with .json (JSON, one object
on each line) or .json.gz (the same, compressed, which is also written to stdout).
--from reads all of them, so one can be converted to another.`,
		Example: `  # Save the current cluster, then ask it elsewhere
  kubectl dra snapshot -o cluster.pb.gz
  kubectl dra explain claim train-0 -n ml --from cluster.pb.gz

  # See what is in it
  kubectl dra snapshot --from cluster.pb.gz -o - | zcat | jq

  # For a bug report
  kubectl dra snapshot --anonymize -o report.json.gz`,
		Args: console.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write to this file, or - for stdout; without it to stdout, or on a terminal to a file named after the cluster and the time")
	f.BoolVar(&o.anonymize, "anonymize", false, "replace names and all other text that is not public")
	console.CompleteFiles(cmd, "output")
	f.BoolVar(&o.force, "force", false, "overwrite the file")
	return cmd
}

func (o *snapshotOptions) run(ctx context.Context) error {
	if o.output != "" && o.output != "-" {
		if err := checkFileName(o.output); err != nil {
			return err
		}
		if err := o.mayWrite(o.output); err != nil {
			return err // before the cluster is read
		}
	}
	namespace, err := o.reader.Namespace() // all that is read of what the user may not read everywhere
	if err != nil {
		return err
	}
	snapshot, err := o.reader.Read(ctx, namespace, inspect.Resources())
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	o.streams.NoteHealth(snapshot, inspect.Resources())
	path := o.output
	if _, terminal := console.TerminalWidth(o.streams.Out); path == "" && terminal {
		path = o.defaultPath(snapshot)
	}
	if path == "" {
		path = "-"
	}
	header, err := o.save(ctx, path, snapshot)
	if path == "-" {
		path = "stdout"
	}
	if err != nil {
		return fmt.Errorf("saving the snapshot to %s: %w", path, err)
	}
	texts, all := countsOf(&header)
	o.streams.Note("saved %s to %s", totalText(texts, all), path)
	if o.streams.Verbosity > 0 {
		o.streams.Note("  %s", console.CommaList(texts))
	}
	if n := header.InexactSelectors; n > 0 {
		o.streams.Note("selectors that compute with replaced text, and may answer differently: %d", n)
	}
	if unread := o.unread(snapshot); unread != "" {
		return fmt.Errorf("the snapshot is incomplete, because not all could be read: %s", unread)
	}
	return nil
}

// checkFileName refuses names of files by which something else is meant than the form in which they are
// written.
func checkFileName(path string) error {
	plain := strings.TrimSuffix(strings.ToLower(path), ".gz")
	switch {
	case slices.Contains(output.TableFormats, path):
		return console.Usagef("-o names a file, not a format as %s is: -o cluster.json writes JSON, any other name protobuf", path)
	case strings.HasSuffix(plain, ".yaml") || strings.HasSuffix(plain, ".yml"):
		return console.Usagef("-o %s: nothing is written as YAML; -o cluster.json writes JSON", path)
	}
	return nil
}

// mayWrite refuses to overwrite a file.
func (o *snapshotOptions) mayWrite(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("saving the snapshot: the directory %s does not exist", filepath.Dir(path))
		}
		return nil
	case err != nil:
		return fmt.Errorf("saving the snapshot: %w", err)
	case info.IsDir():
		return fmt.Errorf("saving the snapshot: %s is a directory; name a file in it", path)
	case !o.force:
		return fmt.Errorf("saving the snapshot: %s exists; --force overwrites it", path)
	}
	return nil
}

// save makes the archive and then writes it, so that what fails or is interrupted before changes nothing.
// JSON without gzip may be larger than memory: it is made while it is written to the file beside.
func (o *snapshotOptions) save(ctx context.Context, path string, s *inspect.Snapshot) (archive.Header, error) {
	plain := strings.HasSuffix(path, ".json")
	archived := func(w io.Writer) (archive.Header, error) {
		return archive.Write(&interruptibleWriter{ctx, w}, s, archive.Options{Anonymize: o.anonymize, Packed: !isJSON(path), Plain: plain})
	}
	if plain {
		content, w := io.Pipe()
		headers := make(chan archive.Header, 1)
		go func() {
			header, err := archived(w)
			_ = w.CloseWithError(err) // it has none
			headers <- header
		}()
		err := o.put(ctx, path, s, content)
		_ = content.Close() // which ends what is still made
		return <-headers, err
	}
	var content bytes.Buffer
	header, err := archived(&content)
	if err = causedBy(ctx, err); err != nil {
		return header, err
	}
	return header, o.put(ctx, path, s, &content)
}

// put writes the archive of a snapshot to where it was asked for.
func (o *snapshotOptions) put(ctx context.Context, path string, s *inspect.Snapshot, content io.Reader) error {
	if err := o.memory.Unwatch(); err != nil { // no end of the program may leave a file behind
		return err
	}
	if path == "-" {
		_, err := io.Copy(o.streams.Out, content)
		return err
	}
	if err := o.mayWrite(path); err != nil { // much may have happened since it was asked first
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeDevice(path, content)
	} else if err == nil {
		if unread := o.unread(s); unread != "" {
			return fmt.Errorf("the file is left as it was, because not all could be read: %s", unread)
		}
	}
	return replaceFile(ctx, path, content, o.force)
}

// unread says what could not be read, other than for want of permission, or is empty. A snapshot that lacks
// it is better than none, but not better than one from before.
func (o *snapshotOptions) unread(s *inspect.Snapshot) string {
	for _, resource := range inspect.Resources() {
		if h := s.Health(resource); h.State == inspect.Broken && !o.reader.Offline() {
			return console.HealthText(resource, h)
		}
	}
	return ""
}

// interruptibleWriter is a writer that fails once ctx has ended.
type interruptibleWriter struct {
	ctx context.Context
	out io.Writer
}

func (w *interruptibleWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.out.Write(p)
}

// writeDevice writes to a pipe or device, which cannot be replaced by a file.
func writeDevice(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // writing to the path that the user named is the purpose
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

var unsafeInFileNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// defaultPath is dra-snapshot-<what>-<time>.pb.gz, where what is the context of the kubeconfig, or the file
// that is read. An anonymized snapshot does not tell, and is JSON: whoever hands it out may want to look at
// it.
func (o *snapshotOptions) defaultPath(s *inspect.Snapshot) string {
	what := "cluster"
	switch {
	case o.anonymize:
		what = "anonymized"
	case o.reader.Demo:
		what = "demo"
	case len(o.reader.From) > 0 && o.reader.From[0] != "-":
		what, _, _ = strings.Cut(filepath.Base(o.reader.From[0]), ".")
	default:
		what = cmp.Or(o.connection.ContextInUse(), what)
	}
	what = strings.Trim(unsafeInFileNames.ReplaceAllString(what, "-"), "-.")
	form := "pb"
	if o.anonymize {
		form = "json"
	}
	return fmt.Sprintf("dra-snapshot-%s-%s.%s.gz", what[:min(len(what), 60)], s.Time().UTC().Format("20060102T150405Z"), form)
}

// isJSON reports whether a snapshot is saved as JSON: where its name says so, and on standard output, for jq.
func isJSON(path string) bool {
	return path == "-" || strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".json")
}

// countsOf are the numbers of objects that were saved: of each kind in a text, and in all.
func countsOf(h *archive.Header) (texts []string, all int) {
	for _, resource := range inspect.Resources() {
		if n := h.Objects[resource]; n > 0 {
			texts, all = append(texts, words.Count(n, strings.ToLower(inspect.KindOf(resource).Name))), all+n
		}
	}
	return texts, all
}

// totalText sums up what was saved: by kinds where that is short.
func totalText(texts []string, all int) string {
	switch n := len(texts); {
	case n == 0:
		return "no objects"
	case n <= console.MaxNamesListed:
		return console.CommaList(texts)
	default:
		return fmt.Sprintf("%d objects of %d kinds (-v counts each)", all, n)
	}
}
