package postgres

import (
	"os/exec"
	"syscall"
)

// isolate has the processes of a program end with its first process: that is the first of a namespace, whose processes
// the kernel kills with it. The first process ends with this one.
func isolate(program *exec.Cmd) error {
	program.SysProcAttr.Cloneflags |= syscall.CLONE_NEWPID
	program.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return nil
}
