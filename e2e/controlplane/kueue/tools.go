//go:build tools

// Package controlplane keeps the manager of Kueue in go.mod.
package controlplane

import _ "sigs.k8s.io/kueue/cmd/kueue"
