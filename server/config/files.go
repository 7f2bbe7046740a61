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
	maxPEM           = 1 << 20  // of a key, or a certificate with its chain
	maxBundle        = 16 << 20 // of certificates
)

// configFiles reads the files that a configuration names, and records the version of each so that changes are noticed.
type configFiles struct {
	folder   string // base of relative names
	versions map[string]fileVersion
}

// path returns the path of a file that the configuration names.
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
	f.versions[name] = versionOf(stat) // before reading: what is written meanwhile counts as a change
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, limit)
	}
	return content, err
}

// secret reads a file that has exactly one line.
func (f configFiles) secret(name string) (string, error) {
	content, err := f.read(name, maxSecret)
	if err != nil {
		return "", err
	}
	line := bytes.TrimRight(content, "\r\n")
	if len(line) == 0 || bytes.ContainsAny(line, "\r\n") {
		return "", fmt.Errorf("%s must have exactly one line", name)
	}
	return string(line), nil
}

// private returns a function that reads as read does, and refuses a file that users other than its owner and group can
// read, or that users other than its owner can change: with the client's secret and key they could send requests in the
// name of the server.
func (f configFiles) private(read func(name string) (string, error)) func(name string) (string, error) {
	return func(name string) (string, error) {
		content, err := read(name)
		if err != nil {
			return "", err
		}
		stat, err := os.Stat(f.path(name))
		if err == nil && stat.Mode().Perm()&0o027 != 0 {
			err = fmt.Errorf("other users can read or change %s (%04o): run chmod 600 on it, and replace its secret if other users may have read it", name, stat.Mode().Perm())
		}
		return content, err
	}
}

// pem reads a file of certificates or a key.
func (f configFiles) pem(name string) (string, error) {
	content, err := f.read(name, maxPEM)
	return string(content), err
}

// certificates reads the certificate bundles that a key lists.
func (s section) certificates(key string, paths []string) (all []*x509.Certificate) {
	for i, path := range paths {
		if s.found.about(s.path + indexed(key, i)) { // it is not a string
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

// withName adds the name of its file to an error, unless package os has added it.
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
			return nil, errors.New("no readable private key in PEM was found")
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

// parseKey parses the private key of a PEM block; nil if the block is not a private key.
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

// fileVersion has the modification time of a file, in nanoseconds, and its size. The zero value stands for a file that does
// not exist.
type fileVersion struct{ modified, size int64 }

func versionOf(stat os.FileInfo) fileVersion {
	return fileVersion{stat.ModTime().UnixNano(), stat.Size()}
}

// fileWatch detects changes of files.
type fileWatch struct {
	seen, next map[string]fileVersion // versions when the files were read, and at the last call of changed
}

// changed reports whether the files have changed since they were read, and have not changed since the last call: a file
// that is being written may have no fault either.
func (w *fileWatch) changed() bool {
	now := make(map[string]fileVersion)
	for path := range w.seen {
		now[path] = fileVersion{}
		if stat, err := os.Stat(path); err == nil {
			now[path] = versionOf(stat)
		}
	}
	stable := maps.Equal(now, w.next)
	w.next = now
	return stable && !maps.Equal(now, w.seen)
}
