package pades

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"crypto/x509"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// additions are the streams and VRI dictionaries that a revision adds to a document security store.
type additions struct {
	certificates, ocspResponses, crls []pdf.Ref
	vri                               []vriEntry
}

// vriEntry is the VRI dictionary of one signature.
type vriEntry struct {
	key    pdf.Name
	source []byte
}

func (a additions) empty() bool { return len(a.certificates)+len(a.ocspResponses)+len(a.crls) == 0 }

// add adds to the update a stream for each DER value that is not in the store yet (ISO 32000-2
// 12.8.4.3).
func (s *store) add(update *pdf.Update, found *validation.Data) additions {
	s.refs = make(map[streamDigest]pdf.Ref)
	for _, old := range s.streams {
		s.refs[streamDigest{old.array, sha256.Sum256(old.der)}] = old.ref
	}
	add := func(array pdf.Name, all [][]byte) (refs []pdf.Ref) {
		for _, der := range all {
			key := streamDigest{array, sha256.Sum256(der)}
			if _, there := s.refs[key]; !there {
				s.refs[key] = update.Add(streamSource(der))
				refs = append(refs, s.refs[key])
			}
		}
		return refs
	}
	return additions{certificates: add("Certs", derOf(found.Certificates)), ocspResponses: add("OCSPs", found.OCSP), crls: add("CRLs", found.CRLs)}
}

// write adds the references to the new streams to the store, and makes a store when the document
// has none. Existing entries stay.
func (s *store) write(file *pdf.File, update *pdf.Update, added additions) error {
	if s.fault != nil {
		return s.fault
	}
	patch := func(source []byte) (result []byte, err error) {
		for _, to := range []struct {
			key  pdf.Name
			refs []pdf.Ref
		}{{"Certs", added.certificates}, {"OCSPs", added.ocspResponses}, {"CRLs", added.crls}} {
			changed, err := appendReferences(file, update, source, s.dict, to.key, to.refs)
			if err != nil {
				return nil, err
			}
			if changed != nil {
				source, result = changed, changed
			}
		}
		changed, err := s.writeVRI(file, update, source, added.vri)
		if changed != nil {
			result = changed
		}
		return result, err
	}
	if s.dict != nil {
		return patchCatalog(file, update, "DSS", patch)
	}
	made, err := patch([]byte("<< /Type /DSS >>"))
	if err != nil || made == nil {
		return err
	}
	catalog, _, err := file.Catalog()
	if err != nil {
		return err
	}
	return setEntry(update, catalog, "DSS", []byte(update.Add(made).String()))
}

// writeVRI adds entries to the VRI dictionary of a store, whose source it takes. It returns the new
// source; nil when the source of the store does not change.
func (s *store) writeVRI(file *pdf.File, update *pdf.Update, source []byte, entries []vriEntry) ([]byte, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	patch := func(source []byte) (_ []byte, err error) {
		for _, e := range entries {
			if source, err = pdf.SetKey(source, e.key, []byte(update.Add(e.source).String())); err != nil {
				return nil, err
			}
		}
		return source, nil
	}
	if s.vri != nil {
		return patchValue(file, update, source, s.dict, "VRI", patch)
	}
	made, err := patch([]byte("<< >>"))
	if err != nil {
		return nil, err
	}
	return pdf.SetKey(source, "VRI", []byte(update.Add(made).String()))
}

// vriSource returns the source of a VRI dictionary (ISO 32000-2 table 262) for the data about one
// signature.
func (s *store) vriSource(about *validation.Data) []byte {
	source := []byte("<< /Type /VRI")
	for _, list := range []struct {
		key   string
		array pdf.Name
		all   [][]byte
	}{{"Cert", "Certs", derOf(about.Certificates)}, {"OCSP", "OCSPs", about.OCSP}, {"CRL", "CRLs", about.CRLs}} {
		var refs []pdf.Ref
		for _, der := range list.all {
			if ref, stored := s.refs[streamDigest{list.array, sha256.Sum256(der)}]; stored {
				refs = append(refs, ref)
			}
		}
		if len(refs) > 0 {
			source = fmt.Appendf(source, " /%s %v", list.key, refs) // %v prints a slice in the syntax of a PDF array
		}
	}
	return append(source, " >>"...)
}

// streamSource returns the source of a stream. Contents of 8 KiB and more are compressed: these are
// mostly CRLs. Certificates and OCSP responses consist mostly of keys and signatures, which do not
// compress.
func streamSource(content []byte) []byte {
	if len(content) < 8<<10 {
		source := fmt.Appendf(nil, "<< /Length %d >>\nstream\n", len(content))
		return append(append(source, content...), "\nendstream"...)
	}
	return deflatedStream(content)
}

func deflatedStream(content []byte) []byte {
	var compressed bytes.Buffer
	w := zlib.NewWriter(&compressed)
	w.Write(content) // a bytes.Buffer returns no error
	w.Close()
	source := fmt.Appendf(nil, "<< /Filter /FlateDecode /Length %d >>\nstream\n", compressed.Len())
	return append(append(source, compressed.Bytes()...), "\nendstream"...)
}

func derOf(certificates []*x509.Certificate) [][]byte {
	var all [][]byte
	for _, c := range certificates {
		all = append(all, c.Raw)
	}
	return all
}
