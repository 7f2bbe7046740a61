package env

import (
	"bytes"
	"encoding/gob"
	"os"
	"path/filepath"
	"testing"
)

// FuzzShared returns what made returns, in each of the processes that fuzz a target: keys and certificates are
// made by chance, and what one of them trusts, those that try the inputs have to trust as well.
func FuzzShared[T any](f *testing.F, made func() T) T {
	f.Helper()
	key := "INNSIGLI_SHARED_" + f.Name()
	if path, ok := os.LookupEnv(key); ok {
		content, err := os.ReadFile(path)
		var value T
		if err == nil {
			err = gob.NewDecoder(bytes.NewReader(content)).Decode(&value)
		}
		if err != nil {
			f.Fatal(err)
		}
		return value
	}
	value := made()
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(value); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(f.TempDir(), "shared")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Setenv(key, path) // which the others inherit
	return value
}
