package pades

import (
	"crypto/sha256"
	"crypto/x509"

	"github.com/innsigli/innsigli/internal/crl"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/internal/ocsp"
	"github.com/innsigli/innsigli/internal/pdf"
)

const (
	// maxEvidence bounds the streams of each array of a document security store.
	maxEvidence = 4096
	// maxCertificate bounds one certificate in bytes.
	maxCertificate = 64 << 10
)

// store is the document security store of a document (ISO 32000-2 12.8.4.3).
type store struct {
	dict    pdf.Dict       // nil: there is none
	vri     pdf.Dict       // nil: it has none
	fault   error          // why one of these cannot be read, and so not be added to
	data    *evidence.Data // as it stands, in its order, none of it verified
	streams []stream
	refs    map[storedAs]pdf.Ref // the streams by what is in them, for who adds to them
}

// stream is one of a store, with its content.
type stream struct {
	array pdf.Name // that it is in: in another it proves nothing
	ref   pdf.Ref
	der   []byte
}

// storedAs is a stream's array and the digest of its content.
type storedAs struct {
	array pdf.Name
	sum   [sha256.Size]byte
}

// readStore reads the document security store. What is no stream, or none that can be
// decoded, proves nothing and is left out, as is a certificate that Go cannot parse. The
// error is one of reading, or [pdf.ErrLimit] for all the work.
func readStore(file *pdf.File) (store, error) {
	s, err := findStore(file)
	if err != nil {
		return s, err
	}
	certificates, err := s.decode(file, "Certs", maxCertificate)
	if err != nil {
		return s, err
	}
	for _, der := range certificates {
		if c, err := x509.ParseCertificate(der); err == nil {
			s.data.Certificates = append(s.data.Certificates, c)
		}
	}
	if s.data.OCSP, err = s.decode(file, "OCSPs", ocsp.MaxSize); err != nil {
		return s, err
	}
	s.data.CRLs, err = s.decode(file, "CRLs", crl.MaxSize)
	return s, err
}

// findStore reads what there is without what it refers to.
func findStore(file *pdf.File) (store, error) {
	s := store{data: new(evidence.Data)}
	_, catalog, err := file.Catalog()
	if err != nil {
		return s, err
	}
	if s.dict, err = file.Dict(catalog["DSS"]); err == nil {
		s.vri, err = file.Dict(s.dict["VRI"])
	}
	s.fault = err
	return s, notMalformed(err)
}

// decode decodes the streams of an array. Several entries may name one stream.
func (s *store) decode(file *pdf.File, key pdf.Name, limit int64) ([][]byte, error) {
	entries, err := file.Array(s.dict[key])
	if err != nil {
		return nil, notMalformed(err)
	}
	var all [][]byte
	seen := make(map[pdf.Ref]bool)
	for _, entry := range entries[:min(len(entries), maxEvidence)] {
		if err := file.Spent(); err != nil {
			return nil, err
		}
		object, err := file.StreamObject(entry)
		if err == nil && (object == nil || seen[object.Ref]) {
			continue
		}
		var der []byte
		if err == nil {
			seen[object.Ref] = true
			der, err = file.Stream(object, limit)
		}
		switch {
		case err == nil:
			all = append(all, der)
			s.streams = append(s.streams, stream{key, object.Ref, der})
		case notMalformed(err) != nil:
			return nil, err
		}
	}
	return all, nil
}
