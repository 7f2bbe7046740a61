//go:build unix

package pdfium

import (
	"io/fs"
	"os"
	"syscall"
)

func onlyUserCanWrite(stat fs.FileInfo) bool {
	owner, ok := stat.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && stat.Mode().Perm()&0o022 == 0
}
