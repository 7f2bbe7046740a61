package pades

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/pades/internal/form"
)

const (
	// maxStoreEntries bounds the streams of each array of a document security store.
	maxStoreEntries = 4096
	// maxCertificate bounds one certificate in bytes.
	maxCertificate = 64 << 10
)

// store is the document security store of a document (ISO 32000-2 12.8.4.3).
type store struct {
	dict    pdf.Dict         // nil: there is none
	vri     pdf.Dict         // nil: it has none
	fault   error            // why one of these cannot be read, and so not be added to
	data    *validation.Data // as it stands, in its order, none of it verified
	streams []stream
	seen    map[streamLocation]bool
	decoded map[streamLocation]stream // in other revisions; nil: none
	refs    map[streamDigest]pdf.Ref  // the streams by what is in them, for who adds to them
}

// stream is one of a store, with its content.
type stream struct {
	streamLocation
	ref         pdf.Ref
	der         []byte
	certificate *x509.Certificate // of Certs, where Go can parse it
}

// arrays are those of a store by what is in them, with their names in its VRI dictionaries (ISO 32000-2 tables 261
// and 262).
var arrays = []struct {
	name, vri pdf.Name
	limit     int64 // of one stream
}{
	{"Certs", "Cert", maxCertificate},
	{"OCSPs", "OCSP", ocsp.MaxSize},
	{"CRLs", "CRL", crl.MaxSize},
}

// streamLocation is where a stream stands.
type streamLocation struct {
	array          pdf.Name // that it is in: in another it proves nothing
	offset, length int64    // of its payload in the document
}

// streamDigest is a stream's array and the digest of its content.
type streamDigest struct {
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
	err = s.decodeAll(file)
	s.data = dataOf(s.streams)
	return s, err
}

// decodeAll decodes what the arrays have.
func (s *store) decodeAll(file *pdf.File) error {
	for _, array := range arrays {
		if err := s.decode(file, array.name, s.dict[array.name], array.limit); err != nil {
			return err
		}
	}
	return nil
}

// dataOf is what stands in streams, in their order.
func dataOf(streams []stream) *validation.Data {
	data := new(validation.Data)
	for _, one := range streams {
		switch {
		case one.array == "OCSPs":
			data.OCSP = append(data.OCSP, one.der)
		case one.array == "CRLs":
			data.CRLs = append(data.CRLs, one.der)
		case one.certificate != nil:
			data.Certificates = append(data.Certificates, one.certificate)
		}
	}
	return data
}

// findStore reads what there is without what it refers to.
func findStore(file *pdf.File) (store, error) {
	s := store{data: new(validation.Data)}
	_, catalog, err := file.Catalog()
	if err != nil {
		return s, err
	}
	if s.dict, err = file.Dict(catalog["DSS"]); err == nil {
		s.vri, err = file.Dict(s.dict["VRI"])
	}
	if err == nil && (isOtherDictionary(file, s.dict) || isOtherDictionary(file, s.vri)) {
		err = fmt.Errorf("%w: /DSS leads to something else", pdf.ErrDamaged)
	}
	s.fault = err
	return s, pdf.IgnoreMalformed(err)
}

// isOtherDictionary reports whether a dictionary is none of a store, of which a VRI has no type. A signature that is added to is
// one no longer.
func isOtherDictionary(file *pdf.File, dict pdf.Dict) bool {
	kind, err := file.Name(dict["Type"])
	return err == nil && kind != "" && kind != "DSS" && kind != "VRI" || dict["ByteRange"] != nil
}

// decode decodes the streams of an array. Several entries may name one stream.
func (s *store) decode(file *pdf.File, name pdf.Name, array pdf.Object, limit int64) error {
	entries, err := file.Array(array)
	if err != nil {
		return pdf.IgnoreMalformed(err)
	}
	for _, entry := range entries[:min(len(entries), maxStoreEntries)] {
		if err := file.CheckBudget(); err != nil {
			return err
		}
		if err := pdf.IgnoreMalformed(s.decodeOne(file, name, entry, limit)); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) decodeOne(file *pdf.File, name pdf.Name, entry pdf.Object, limit int64) error {
	object, err := file.StreamObject(entry)
	if err != nil || object == nil {
		return err
	}
	place := streamLocation{name, object.Offset, object.Length}
	if s.seen[place] {
		return nil
	}
	one, known := s.decoded[place]
	if !known {
		one = stream{streamLocation: place, ref: object.Ref}
		if one.der, err = file.Stream(object, limit); err != nil {
			return err
		}
		if name == "Certs" {
			one.certificate, _ = x509.ParseCertificate(one.der)
		}
	}
	s.addStream(one)
	return nil
}

func (s *store) addStream(one stream) {
	if s.seen == nil {
		s.seen = make(map[streamLocation]bool)
	}
	s.seen[one.streamLocation] = true
	s.streams = append(s.streams, one)
	if s.decoded != nil {
		s.decoded[one.streamLocation] = one
	}
}

// readMergedStore reads the document security store of a revision for a verification. What is in it counts wherever it
// stands, also in the VRI dictionaries alone (ISO 32000-2 table 262), and so does what the store of an earlier
// revision had that was signed or timestamped: some writers put a new store in the place of the old one, or leave it
// out, and what revocation data says of a certificate stays said.
func (d *inspection) readMergedStore(file *pdf.File) (store, error) {
	s, err := findStore(file)
	if err != nil {
		return s, err
	}
	s.decoded = d.decoded
	if err := s.decodeAll(file); err != nil {
		return s, err
	}
	if err := s.decodeVRI(file); err != nil {
		return s, err
	}
	earlier, err := d.storeAt(d.signedBefore(file.Size()))
	if err != nil {
		return s, err
	}
	s.inherit(earlier)
	s.data = dataOf(s.streams)
	return s, nil
}

// decodeVRI decodes what stands in the VRI dictionaries, in the order of their names.
func (s *store) decodeVRI(file *pdf.File) error {
	for _, name := range slices.Sorted(maps.Keys(s.vri)) {
		if err := file.CheckBudget(); err != nil {
			return err
		}
		of, err := file.Dict(s.vri[name])
		if err := pdf.IgnoreMalformed(err); err != nil {
			return err
		}
		for _, array := range arrays {
			if err := s.decode(file, array.name, of[array.vri], array.limit); err != nil {
				return err
			}
		}
	}
	return nil
}

// inherit adds what an earlier store has and this one has not.
func (s *store) inherit(earlier store) {
	for _, one := range earlier.streams {
		if !s.seen[one.streamLocation] {
			s.addStream(one)
		}
	}
}

// signedBefore is where the last revision ends that was signed or timestamped as a whole, before an offset; 0: none
// was.
func (d *inspection) signedBefore(end int64) int64 {
	i, _ := slices.BinarySearch(d.signedRevisions, end)
	if i == 0 {
		return 0
	}
	return d.signedRevisions[i-1]
}

// signedRevisionEnds are the ends of revisions that have a signature or a timestamp over all of them, in ascending order.
func (c coverage) signedRevisionEnds(f form.Fields) (all []int64) {
	for _, r := range c.ranges(f) {
		if c.coverageOf(r) != ades.Partial {
			all = append(all, r.end)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// storeAt reads the document security store as it was when the document had so many
// bytes. It is the same for many signatures, and read once.
func (d *inspection) storeAt(end int64) (store, error) {
	if s, ok := d.earlierStores[end]; ok || end == 0 {
		return s, nil
	}
	var s store
	file, err := d.file.Earlier(end)
	if err == nil {
		s, err = d.readMergedStore(file)
	}
	if err != nil {
		s = store{data: new(validation.Data)}
	}
	s.data.ChargeTo(d.known)
	if err = pdf.IgnoreMalformed(err); err == nil {
		d.earlierStores[end] = s
	}
	return s, err
}
