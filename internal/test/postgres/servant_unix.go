//go:build unix

package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// servant returns the IDs of the account that runs the server where this process is root, which Postgres refuses: "postgres", as
// on a machine with an installed server, or "nobody". ok is false where this process runs the server as its own account.
func servant() (uid, gid uint32, ok bool, err error) {
	if os.Geteuid() != 0 {
		return 0, 0, false, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return 0, 0, false, err
	}
	u, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return 0, 0, false, err
	}
	g, err := strconv.ParseUint(account.Gid, 10, 32)
	return uint32(u), uint32(g), true, err
}

// serve has the program run as the servant, and apart from the signals of a terminal.
func serve(program *exec.Cmd) error {
	uid, gid, other, err := servant()
	if err != nil {
		return fmt.Errorf("no account for the server: %w", err)
	}
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if other {
		program.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return nil
}

// handOver gives the files to the servant.
func handOver(paths ...string) error {
	uid, gid, other, err := servant()
	if err != nil || !other {
		return err
	}
	for _, path := range paths {
		if err := os.Chown(path, int(uid), int(gid)); err != nil {
			return err
		}
	}
	return nil
}
