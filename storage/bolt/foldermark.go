package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/google/uuid"
)

// markFile is a file in the folder that names the store that the folder belongs to. With
// another store's folder all documents would be missing, and that store's would be swept.
const markFile = "store-id"

func (f *folder) mark(expected string) (string, error) {
	mark, err := f.root.ReadFile(markFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return string(mark), err
	}
	if empty, err := f.empty(); err != nil || empty && expected != "" {
		return expected, err
	}
	return "", fmt.Errorf("%w: there is no file %s in it", ErrFolder, markFile)
}

func (f *folder) claim() (string, error) {
	_, err := f.root.Stat(markFile)
	switch {
	case err == nil:
		return "", fmt.Errorf("%w: it belongs to another one", ErrFolder)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return uuid.NewString(), nil
}

func (f *folder) settle(mark string) error {
	if err := f.write(markFile, []byte(mark)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// empty says whether there is no document.
func (f *folder) empty() (bool, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isID(e.Name()) }), err
}

// write makes a new file, which is on the disk on return.
func (f *folder) write(name string, content []byte) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close(), f.self.Sync())
}

// isID says whether a file's name is a document's.
func isID(name string) bool {
	id, err := uuid.Parse(name)
	return err == nil && id.String() == name
}
