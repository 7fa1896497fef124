// Package fix finds changes that help.
package fix
