// Package deps keeps modules in go.mod while the packages that use them are being written.
package deps

import (
	_ "github.com/google/cel-go/cel"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "golang.org/x/tools/txtar"
	_ "golang.org/x/tools/go/packages"
	_ "golang.org/x/term"
	_ "golang.org/x/sync/errgroup"
	_ "github.com/prometheus/common/expfmt"
	_ "k8s.io/apiserver/pkg/cel/environment"
	_ "k8s.io/api/resource/v1"
	_ "k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/cli-runtime/pkg/printers"
	_ "k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/metadata"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	_ "k8s.io/dynamic-resource-allocation/cel"
	_ "k8s.io/dynamic-resource-allocation/structured"
	_ "k8s.io/dynamic-resource-allocation/resourceclaim"
	_ "k8s.io/dynamic-resource-allocation/api/v1beta1"
	_ "sigs.k8s.io/yaml"
)
