//go:build !unix

package bolt

import (
	"io/fs"
	"os"
)

// setOwner does nothing where files belong to the user, whatever program makes them.
func setOwner(*os.File, fs.FileInfo, fs.FileMode) error { return nil }
