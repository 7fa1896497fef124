// Package release holds no code but tests: that the files which build, check and publish the plugin are well
// formed and agree with each other and with the source. A linker flag that names a variable which does not
// exist is ignored silently, for one, and the program would never know its version.
package release
