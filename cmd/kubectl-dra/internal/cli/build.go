package cli

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// version is set when a release is built.
var version string

// pluginVersion is what is known without a server.
func pluginVersion() *output.Version {
	return &output.Version{ClientVersion: clientVersion(), ModelledKubernetes: fmt.Sprintf("1.%d", inspect.NewestMinor)}
}

// clientVersion is what is known of this build.
func clientVersion() output.BuildInfo {
	info := output.BuildInfo{
		GitVersion: version, GoVersion: goruntime.Version(), Compiler: goruntime.Compiler, Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if info.GitVersion == "" {
		info.GitVersion = build.Main.Version
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.GitCommit = setting.Value
		case "vcs.time":
			info.CommitDate = setting.Value
		}
	}
	return info
}
