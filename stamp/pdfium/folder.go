package pdfium

import "os"

// ownFolder makes a folder unless it is there, and says whether what lies in it can be run: it is
// of the user who runs this, and nobody else may write to it.
func ownFolder(path string) bool {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return false
	}
	stat, err := os.Stat(path)
	return err == nil && stat.IsDir() && ownedAlone(stat)
}
