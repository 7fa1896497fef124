// Package diagnose says why nodes refuse a question.
package diagnose
