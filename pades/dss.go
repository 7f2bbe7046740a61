package pades

import (
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

// readDSS reads the document security store (ISO 32000-2 12.8.4.3): certificates, OCSP
// responses and CRLs, all as they stand and in their order, none of it verified. What is no
// stream, or none that can be decoded, proves nothing and is left out, as is a certificate
// that Go cannot parse. The error is one of reading, or [pdf.ErrLimit] for all the work.
func readDSS(file *pdf.File) (certificates []*x509.Certificate, responses, lists [][]byte, err error) {
	store, err := securityStore(file)
	if err != nil {
		return nil, nil, nil, err
	}
	raw, err := readEvidence(file, store["Certs"], maxCertificate)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, der := range raw {
		if c, err := x509.ParseCertificate(der); err == nil {
			certificates = append(certificates, c)
		}
	}
	if responses, err = readEvidence(file, store["OCSPs"], ocsp.MaxSize); err != nil {
		return nil, nil, nil, err
	}
	lists, err = readEvidence(file, store["CRLs"], crl.MaxSize)
	return certificates, responses, lists, err
}

// storedEvidence is what the document security store has, and whether there is one.
func storedEvidence(file *pdf.File) (*evidence.Data, bool, error) {
	store, err := securityStore(file)
	if err != nil {
		return nil, false, err
	}
	certificates, responses, lists, err := readDSS(file)
	return &evidence.Data{Certificates: certificates, OCSP: responses, CRLs: lists}, store != nil, err
}

// securityStore returns the dictionary that the catalog names; nil when there is none.
func securityStore(file *pdf.File) (pdf.Dict, error) {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	store, err := file.Dict(catalog["DSS"])
	return store, notMalformed(err)
}

// readEvidence decodes the streams of an array. Several entries may name one stream.
func readEvidence(file *pdf.File, array pdf.Object, limit int64) ([][]byte, error) {
	entries, err := file.Array(array)
	if err != nil {
		return nil, notMalformed(err)
	}
	var all [][]byte
	seen := make(map[pdf.Ref]bool)
	for _, entry := range entries[:min(len(entries), maxEvidence)] {
		if err := file.Spent(); err != nil {
			return nil, err
		}
		stream, err := file.StreamObject(entry)
		if err == nil && (stream == nil || seen[stream.Ref]) {
			continue
		}
		var der []byte
		if err == nil {
			seen[stream.Ref] = true
			der, err = file.Stream(stream, limit)
		}
		switch {
		case err == nil:
			all = append(all, der)
		case notMalformed(err) != nil:
			return nil, err
		}
	}
	return all, nil
}
