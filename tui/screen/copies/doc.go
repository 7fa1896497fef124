// Package copies is the page that says how many more copies of a claim fit, and what runs out first.
package copies
