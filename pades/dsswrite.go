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

// additions are the streams that a revision adds to a document security store.
type additions struct {
	certificates, ocspResponses, crls []pdf.Ref
	vri                               []vriEntry
}

// vriEntry is what is known about one signature.
type vriEntry struct {
	key    pdf.Name
	source []byte
}

func (a additions) empty() bool { return len(a.certificates)+len(a.ocspResponses)+len(a.crls) == 0 }

// add makes streams, one for each DER value (ISO 32000-2 12.8.4.3), of what is not in the
// store.
func (s *store) add(update *pdf.Update, found *validation.Data) additions {
	s.refs = make(map[storedAs]pdf.Ref)
	for _, old := range s.streams {
		s.refs[storedAs{old.array, sha256.Sum256(old.der)}] = old.ref
	}
	add := func(array pdf.Name, all [][]byte) (refs []pdf.Ref) {
		for _, der := range all {
			key := storedAs{array, sha256.Sum256(der)}
			if _, there := s.refs[key]; !there {
				s.refs[key] = update.Add(streamSource(der))
				refs = append(refs, s.refs[key])
			}
		}
		return refs
	}
	return additions{certificates: add("Certs", derOf(found.Certificates)), ocspResponses: add("OCSPs", found.OCSP), crls: add("CRLs", found.CRLs)}
}

// write adds to the store. Whatever is in it stays where it is.
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

// writeVRI adds entries to the VRI dictionary of a store, given as its source; nil when
// that stays as it is.
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

// vriSource is the source of the dictionary of ISO 32000-2 table 262.
func (s *store) vriSource(about *validation.Data) []byte {
	source := []byte("<< /Type /VRI")
	for _, list := range []struct {
		key   string
		array pdf.Name
		all   [][]byte
	}{{"Cert", "Certs", derOf(about.Certificates)}, {"OCSP", "OCSPs", about.OCSP}, {"CRL", "CRLs", about.CRLs}} {
		var refs []pdf.Ref
		for _, der := range list.all {
			if ref, stored := s.refs[storedAs{list.array, sha256.Sum256(der)}]; stored {
				refs = append(refs, ref)
			}
		}
		if len(refs) > 0 {
			source = fmt.Appendf(source, " /%s %v", list.key, refs) // Go writes slices as PDF does arrays
		}
	}
	return append(source, " >>"...)
}

// streamOf is the source of a stream. Certificates and responses are mostly keys and
// signatures, which deflating does not shorten; long lists it does.
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
	w.Write(content) // a bytes.Buffer takes everything
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
