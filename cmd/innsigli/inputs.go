package main

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/xades"
)

// readCertificates reads the certificates of a file, which has at least one.
func readCertificates(path string) ([]*x509.Certificate, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	certificates, err := online.ParseBundle(content)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return certificates, nil
}

// readRoots reads the root certificates of a file; nil without a file.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	certificates, err := readCertificates(path)
	return poolOf(certificates), err
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certificates {
		pool.AddCert(c)
	}
	return pool
}

// selfSigned returns the certificates whose issuer is their subject.
func selfSigned(certificates []*x509.Certificate) *x509.CertPool {
	return poolOf(slices.DeleteFunc(slices.Clone(certificates), func(c *x509.Certificate) bool {
		return !bytes.Equal(c.RawSubject, c.RawIssuer)
	}))
}

// format is the format of a file, which its content decides and not its name.
type format int

const (
	formatPDF format = iota + 1
	formatXML
)

func (f format) String() string {
	if f == formatPDF {
		return "a PDF"
	}
	return "XML"
}

// headSize is how many bytes at the beginning of a file may precede the header of a PDF (ISO 32000-1 annex H, note 13).
const headSize = 1024

var errFormat = errors.New("neither a PDF nor XML")

// readFormat returns the format of a file.
func readFormat(file io.ReaderAt) (format, error) {
	head := make([]byte, headSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return formatOf(head[:n])
}

// source is a file to sign or to extend. It may be a pipe.
type source struct {
	file    *os.File
	head    []byte    // the first bytes of the file
	content io.Reader // the whole file
}

// openSource opens a file to sign or to extend.
func openSource(path string) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	head := make([]byte, headSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.Join(err, file.Close())
	}
	s := &source{file: file, head: head[:n], content: file}
	if _, err := file.Seek(0, io.SeekStart); err != nil { // a pipe
		s.content = io.MultiReader(bytes.NewReader(s.head), file)
	}
	return s, nil
}

// close closes the file. The content is read once and the file closed then, since Windows replaces no open file.
func (s *source) close() { _ = s.file.Close() }

// format returns the format of the file.
func (s *source) format() (format, error) {
	kind, err := formatOf(s.head)
	if err != nil {
		return 0, fmt.Errorf("the document cannot be read: %w", err)
	}
	return kind, nil
}

// xml reads the file into memory, and closes it. It reads nothing of a file that is too long: package xades refuses the
// document because of its size.
func (s *source) xml() (xades.Document, error) {
	defer s.close()
	var content bytes.Buffer
	if stat, err := s.file.Stat(); err == nil {
		if stat.Size() > xades.MaxSize {
			return xades.Document{ReaderAt: bytes.NewReader(nil), Size: stat.Size()}, nil
		}
		content.Grow(int(stat.Size()) + 2*bytes.MinRead)
	}
	_, err := content.ReadFrom(io.LimitReader(s.content, xades.MaxSize+1)) // a pipe may have any length
	return xades.Document{ReaderAt: bytes.NewReader(content.Bytes()), Size: int64(content.Len())}, err
}

// formatOf returns the format of a file by its first bytes. It checks for XML first, since XML may contain the header
// of a PDF.
func formatOf(head []byte) (format, error) {
	switch {
	case beginsAsXML(head):
		return formatXML, nil
	case bytes.Contains(head, []byte("%PDF-")):
		return formatPDF, nil
	}
	return 0, errFormat
}

// beginsAsXML reports whether the first character other than white space is "<", in UTF-8 or UTF-16 (XML 1.0 appendix
// F). It does not check whether the file is well-formed.
func beginsAsXML(head []byte) bool {
	for _, mark := range []string{"\xef\xbb\xbf", "\xfe\xff", "\xff\xfe"} {
		head = bytes.TrimPrefix(head, []byte(mark))
	}
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\x00"), []byte("<"))
}

// readKey reads the first private key of a PEM file.
func readKey(path string) (crypto.Signer, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := config.FindKey(content)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return key, nil
}
