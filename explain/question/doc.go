// Package question answers questions about claims, templates and pods.
package question
