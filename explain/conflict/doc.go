// Package conflict computes a minimal unsatisfiable set of requirements.
package conflict
