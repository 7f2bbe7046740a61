package sealed

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/innsigli/innsigli/internal/durable"
)

const (
	keyLen     = 32 // bytes, of AES-256
	maxKeyFile = 64 << 10
	maxKeys    = 100
)

// Parse parses master keys: one per line, 32 random bytes in Base64 (RFC 4648 4). It ignores empty lines and lines
// that begin with "#". Errors contain the number of a line, and no key.
func Parse(text []byte) (*Keys, error) {
	keys := new(Keys)
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		secret, err := base64.StdEncoding.Strict().DecodeString(string(line))
		if err != nil || len(secret) != keyLen {
			return nil, fmt.Errorf("line %d must be a key: 32 bytes in Base64", number)
		}
		k, err := newKey(secret)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		keys.all = append(keys.all, k)
	}
	switch n := len(keys.all); {
	case n == 0:
		return nil, errors.New("it has no key")
	case n > maxKeys:
		return nil, fmt.Errorf("it has more than %d keys", maxKeys)
	}
	return keys, nil
}

// ReadFile reads master keys from a file. It refuses a file that others than the owner and the group can read, or
// that others than the owner can change. The group may read it because containers get their secrets in this way.
func ReadFile(path string) (*Keys, error) {
	text, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("reading the master key: %w", err)
	}
	keys, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading the master key: %s: %w", path, err)
	}
	return keys, nil
}

// readPrivate reads a file after it has checked the permissions.
func readPrivate(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stat, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !stat.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case stat.Mode().Perm()&0o027 != 0:
		return nil, fmt.Errorf("other users can read or change %s (%04o): run chmod 600 on it, and create another key if other users may have read it", path, stat.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxKeyFile)
	}
	return text, err
}

// MakeFile creates a file with a new key, unless the file exists. If several processes call it at the same time,
// one of them creates the file, and all read the same key from it.
func MakeFile(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // ReadFile reports what is wrong with it
	}
	if err := durable.Create(path, newFile()); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("creating the master key: %w", err)
	}
	return nil
}

func newFile() []byte {
	var secret [keyLen]byte
	rand.Read(secret[:])
	return []byte("# Master key of Innsigli. Without it the secrets in the store are lost: keep a copy, apart from the store.\n" +
		"# To change it, append the new key on all servers and restart them; then move the new key to the top\n" +
		"# on all servers and restart them; remove the old key later: see innsigli serve --help.\n" +
		base64.StdEncoding.EncodeToString(secret[:]) + "\n")
}
