// Package fit holds kubectl dra fit: how many more copies of a claim fit, and what runs out first.
package fit
