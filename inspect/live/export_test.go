package live

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Tests do not wait for servers to recover.
func init() {
	backoff = wait.Backoff{Duration: 20 * time.Millisecond, Factor: 2, Steps: 3, Cap: 100 * time.Millisecond}
}
