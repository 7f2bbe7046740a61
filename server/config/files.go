package config

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/innsigli/innsigli/ades/online"
)

const (
	maxConfiguration = 64 << 10
	maxSecret        = 4 << 10
	maxPEM           = 1 << 20  // of a key, or a certificate with those above it
	maxBundle        = 16 << 20 // of certificates
)

// configFiles reads what a configuration names and remembers how each file was, so that a
// change is noticed.
type configFiles struct {
	folder   string // that relative names are in
	versions map[string]fileVersion
}

// path is where a file is that the configuration names.
func (f configFiles) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.folder, name)
}

// read returns the content of a file of at most limit bytes.
func (f configFiles) read(name string, limit int64) ([]byte, error) {
	name = f.path(name)
	f.versions[name] = fileVersion{}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return nil, err
	}
	f.versions[name] = versionOf(stat) // of before: what is written meanwhile is a change
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, limit)
	}
	return content, err
}

// secret reads the line that a file consists of.
func (f configFiles) secret(name string) (string, error) {
	content, err := f.read(name, maxSecret)
	if err != nil {
		return "", err
	}
	line := bytes.TrimRight(content, "\r\n")
	if len(line) == 0 || bytes.ContainsAny(line, "\r\n") {
		return "", fmt.Errorf("%s does not consist of one line", name)
	}
	return string(line), nil
}

// closed returns a function that reads as read does, and refuses files that others than the owner and group can read, or
// others than the owner can change: with the client's secret and key anybody could ask people in the server's name.
func (f configFiles) closed(read func(name string) (string, error)) func(name string) (string, error) {
	return func(name string) (string, error) {
		content, err := read(name)
		if err != nil {
			return "", err
		}
		stat, err := os.Stat(f.path(name))
		if err == nil && stat.Mode().Perm()&0o027 != 0 {
			err = fmt.Errorf("%s is open to others (%04o): chmod 600 it, and get another if somebody may have read it", name, stat.Mode().Perm())
		}
		return content, err
	}
}

// pem reads a file of certificates or a key.
func (f configFiles) pem(name string) (string, error) {
	content, err := f.read(name, maxPEM)
	return string(content), err
}

// certificates reads the bundles that a key lists.
func (s section) certificates(key string, paths []string) (all []*x509.Certificate) {
	for i, path := range paths {
		if s.found.about(s.path + indexed(key, i)) { // it is no string
			continue
		}
		content, err := s.files.read(path, maxBundle)
		if err == nil {
			var found []*x509.Certificate
			found, err = online.ParseBundle(content)
			all = append(all, found...)
		}
		if err != nil {
			s.fault(indexed(key, i), "%v", withName(err, path))
		}
	}
	return all
}

func indexed(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// withName is an error with the name of its file, which those of package os have.
func withName(err error, name string) error {
	if path := new(os.PathError); errors.As(err, &path) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// FindKey returns the first private key among PEM blocks: PKCS #8, PKCS #1 or SEC 1, not encrypted.
func FindKey(rest []byte) (crypto.Signer, error) {
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errors.New("there is no private key in PEM that can be read")
		}
		key, err := parseKey(block)
		if err != nil {
			return nil, err
		}
		if signer, ok := key.(crypto.Signer); ok {
			return signer, nil
		}
	}
}

// parseKey returns nil for a block that is no key.
func parseKey(block *pem.Block) (any, error) {
	switch block.Type {
	case "PRIVATE KEY":
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("the key is encrypted; decrypt it first")
	}
	return nil, nil
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certificates {
		pool.AddCert(c)
	}
	return pool
}

// fileVersion is when a file was last changed, in nanoseconds, and how long it was. The zero
// value is that of a file that does not exist.
type fileVersion struct{ modified, size int64 }

func versionOf(stat os.FileInfo) fileVersion {
	return fileVersion{stat.ModTime().UnixNano(), stat.Size()}
}

// fileWatch notices that files were changed.
type fileWatch struct {
	seen, next map[string]fileVersion // the files as they were read, and as they are about to be
}

// changed reports whether the files are others than those that were read, and have come to
// rest: half of a file could be read without a fault.
func (w *fileWatch) changed() bool {
	now := make(map[string]fileVersion)
	for path := range w.seen {
		now[path] = fileVersion{}
		if stat, err := os.Stat(path); err == nil {
			now[path] = versionOf(stat)
		}
	}
	atRest := maps.Equal(now, w.next)
	w.next = now
	return atRest && !maps.Equal(now, w.seen)
}
