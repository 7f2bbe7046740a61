package bolt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// A file that is replaced each time that it was opened is an error in the end. If it is replaced less often, the last
// one is opened.
func TestAFileThatIsReplacedWhileItIsOpened(t *testing.T) {
	for replaced := range openTries + 2 {
		path := filepath.Join(t.TempDir(), "store.db")
		opened := 0
		options := bbolt.Options{OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			file, err := os.OpenFile(name, flag, mode)
			if opened++; err == nil && opened <= replaced {
				err = os.Rename(name, name+".old")
			}
			return file, err
		}}
		file, err := openBolt(path, options)
		if want := min(replaced+1, openTries); opened != want {
			t.Errorf("replaced %d times: it was opened %d times, want %d", replaced, opened, want)
		}
		if replaced < openTries {
			if err != nil {
				t.Errorf("replaced %d times: %v", replaced, err)
			} else if err := file.Close(); err != nil {
				t.Error(err)
			}
		} else if err == nil || !strings.Contains(err.Error(), "was another file each time after it was opened") {
			t.Errorf("replaced %d times: %v", replaced, err)
		}
	}
}
