// Package randompod makes pods for tests that say all that the scheduler's filters look at, and much that
// nobody looks at, and a small cluster in which some of them fit. Only tests import it.
package randompod
