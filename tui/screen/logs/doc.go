// Package logs is the page that shows the last lines that the containers of a pod have written.
package logs
