// Package e2e has only tests: they run the product against a real control plane. See README.md.
package e2e
