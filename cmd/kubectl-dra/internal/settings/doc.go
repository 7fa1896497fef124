// Package settings reads the file in which a user says what shall be otherwise than it is by default. What is
// in it is [tui.Preferences]; a file that is not in order is no file, and says why.
package settings
