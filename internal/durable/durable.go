// Package durable makes names of files outlive a crash: a file that was flushed may be lost
// with its name until the folder that it is in was flushed, too (fsync(2)).
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Name makes the name of a file or folder durable that was made or renamed. Windows cannot
// flush folders, and need not.
func Name(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	above, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(above.Sync(), above.Close())
}
