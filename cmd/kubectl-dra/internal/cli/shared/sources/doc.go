// Package sources holds what commands read: a Reader makes snapshots of the cluster that a Connection
// reaches, of files, logs and archives, or of the demo cluster, once or again and again, and Memory bounds
// what files may take. Options are what all commands that answer have of it.
//
// It knows no command; what their arguments name is for package inquiry.
package sources
