//go:build failpoints

package failpoint

import (
	"os"
	"syscall"
)

// Here kills the process when INNSIGLI_FAILPOINT names the point.
func Here(name string) {
	if os.Getenv("INNSIGLI_FAILPOINT") == name {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal may take a moment; nothing after this line may happen
	}
}
