// Command kubectl-dra is a kubectl plugin that explains Dynamic Resource Allocation. Installed in the
// PATH it is called as kubectl dra.
package main

import (
	"os"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways to log in that a kubeconfig may name

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
)

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(cli.Main(cli.Arguments(os.Args), streams, time.Now))
}
