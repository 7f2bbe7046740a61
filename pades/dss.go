package pades

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

const (
	// maxStoreEntries bounds the entries that are read of each array of a document security store.
	maxStoreEntries = 4096
	// maxCertificate bounds one certificate in bytes.
	maxCertificate = 64 << 10
)

// store is the document security store (DSS) of a document (ISO 32000-2 12.8.4.3).
type store struct {
	dict    pdf.Dict         // nil: the document has no store
	vri     pdf.Dict         // nil: the store has no VRI dictionary
	fault   error            // why dict or vri cannot be read; the store then takes no additions
	data    *validation.Data // the content of streams, in their order, not verified
	streams []stream
	seen    map[streamLocation]bool   // of streams
	decoded map[streamLocation]stream // of the stores of all revisions; nil: not kept
	refs    map[streamDigest]pdf.Ref  // of streams, for [store.add]
}

// stream is a stream of a document security store, with its decoded content.
type stream struct {
	streamLocation
	ref         pdf.Ref
	der         []byte
	certificate *x509.Certificate // in Certs; nil if Go cannot parse it
}

// streamLocation is the array that a stream is in, and where its payload is in the document. A
// stream of another array is not read as validation data of this kind.
type streamLocation struct {
	array          pdf.Name // Certs, OCSPs or CRLs
	offset, length int64    // of the payload, in bytes
}

// streamDigest is the array that a stream is in, and the digest of its content.
type streamDigest struct {
	array pdf.Name
	sum   [sha256.Size]byte
}

// arrays are the arrays of a document security store and of its VRI dictionaries (ISO 32000-2
// tables 261 and 262).
var arrays = []struct {
	name, vri pdf.Name
	limit     int64 // of the content of one stream, in bytes
}{
	{"Certs", "Cert", maxCertificate},
	{"OCSPs", "OCSP", ocsp.MaxSize},
	{"CRLs", "CRL", crl.MaxSize},
}

// readStore reads the document security store for an [Extender]. It leaves out entries that are not
// streams, streams that cannot be decoded, and certificates that Go cannot parse. The error is an
// error of reading, or [pdf.ErrLimit] if the file has taken all the work that it may.
func readStore(file *pdf.File) (store, error) {
	s, err := findStore(file)
	if err != nil {
		return s, err
	}
	err = s.decodeAll(file)
	s.data = dataOf(s.streams)
	return s, err
}

// readMergedStore reads the document security store of a revision for a verification. It adds the
// validation data that is in the VRI dictionaries alone (ISO 32000-2 table 262), and the stores of
// earlier revisions that were signed or timestamped. Some writers replace the store or leave it
// out, but what revocation data states about a certificate stays true.
func (d *documentValidation) readMergedStore(file *pdf.File) (store, error) {
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
	earlier, err := d.storeAt(d.coveredBefore(file.Size(), s.dict != nil))
	if err != nil {
		return s, err
	}
	s.inherit(earlier)
	s.data = dataOf(s.streams)
	return s, nil
}

// storeAt returns the merged store of the revision that ends at the offset end, and keeps it, since
// many signatures need the same one. A store that is malformed is empty. The error is an error of
// reading.
func (d *documentValidation) storeAt(end int64) (store, error) {
	if s, ok := d.earlierStores[end]; ok || end == 0 {
		return s, nil
	}
	var s store
	file, err := d.file.EarlierRevision(end)
	if err == nil {
		s, err = d.readMergedStore(file)
	}
	if err != nil {
		s = store{data: new(validation.Data)}
	}
	s.data.ShareLimit(d.known)
	if err = pdf.IgnoreMalformed(err); err == nil {
		d.earlierStores[end] = s
	}
	return s, err
}

// findStore reads the dictionaries of the store, and nothing that they refer to.
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
		err = fmt.Errorf("%w: /DSS refers to an object of another type", pdf.ErrDamaged)
	}
	s.fault = err
	return s, pdf.IgnoreMalformed(err)
}

// isOtherDictionary reports whether a dictionary is not part of a document security store: it has
// the Type of something else, or a ByteRange. Entries that are added to a signature dictionary
// would break the signature.
func isOtherDictionary(file *pdf.File, dict pdf.Dict) bool {
	kind, err := file.Name(dict["Type"])
	return err == nil && kind != "" && kind != "DSS" && kind != "VRI" || dict["ByteRange"] != nil
}

func (s *store) decodeAll(file *pdf.File) error {
	for _, array := range arrays {
		if err := s.decode(file, array.name, s.dict[array.name], array.limit); err != nil {
			return err
		}
	}
	return nil
}

// decodeVRI decodes the streams in the VRI dictionaries, in the order of their keys.
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

// decode decodes the streams of an array. Several entries may refer to one stream.
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

// inherit adds the streams of an earlier store that this one lacks.
func (s *store) inherit(earlier store) {
	for _, one := range earlier.streams {
		if !s.seen[one.streamLocation] {
			s.addStream(one)
		}
	}
}

// dataOf returns the validation data in streams, in their order.
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

// coveredBefore returns where the last revision before end ends that is signed or timestamped as a
// whole; 0 if there is none. If the revision that ends there is signed and has no store, the one
// before it counts as well, because the signature covers both.
func (d *documentValidation) coveredBefore(end int64, hasStore bool) int64 {
	i, signed := slices.BinarySearch(d.signedRevisions, end)
	if signed && !hasStore {
		if n, _ := slices.BinarySearch(d.revisions, end+1); n >= 2 { // of n that end there or before
			return d.revisions[n-2]
		}
		return 0
	}
	if i == 0 {
		return 0
	}
	return d.signedRevisions[i-1]
}
