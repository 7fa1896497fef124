package output

import (
	"fmt"
	"io"

	apiversion "k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Version is what kubectl dra version prints, in the shape of kubectl version.
type Version struct {
	ClientVersion BuildInfo `json:"clientVersion"`
	// ModelledKubernetes is the newest Kubernetes release whose scheduler is modelled, such as "1.37".
	ModelledKubernetes string           `json:"modelledKubernetes"`
	ServerVersion      *apiversion.Info `json:"serverVersion,omitempty"`
}

// BuildInfo says which build this is. The fields are those of kubectl.
type BuildInfo struct {
	GitVersion string `json:"gitVersion"`
	GitCommit  string `json:"gitCommit,omitempty"`
	CommitDate string `json:"commitDate,omitempty"`
	GoVersion  string `json:"goVersion"`
	Compiler   string `json:"compiler"`
	Platform   string `json:"platform"`
}

// PrintVersion prints versions for people.
func PrintVersion(w io.Writer, v *Version) error {
	text := fmt.Sprintf("Client Version: %s\nModels Kubernetes up to: %s\n", v.ClientVersion.GitVersion, v.ModelledKubernetes)
	if v.ServerVersion != nil {
		text += fmt.Sprintf("Server Version: %s\n", inspect.Sanitize(v.ServerVersion.GitVersion))
	}
	_, err := io.WriteString(w, text)
	return err
}
