// Package licences writes THIRD_PARTY_LICENSES: the licences and notices of everything that is compiled into
// kubectl-dra, for the release archives. It asks the go command what that is, on all systems for which there
// are releases, and takes the files from the module cache, so it needs no network once the modules are there.
package licences

//go:generate go test . -run TestLicencesAreUpToDate -update
