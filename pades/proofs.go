package pades

import (
	"maps"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pki/validation"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// readProofs reads the document security store of a revision for a verification. What is in it counts wherever it
// stands, also in the VRI dictionaries alone (ISO 32000-2 table 262), and so does what the store of an earlier
// revision had that was signed or timestamped: some writers put a new store in the place of the old one, or leave it
// out, and what revocation data says of a certificate stays said.
func (d *inspection) readProofs(file *pdf.File) (store, error) {
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
	earlier, err := d.storeUpTo(d.signedBefore(file.Size()))
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
		if err := file.Spent(); err != nil {
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
		if !s.there[one.storedAt] {
			s.keep(one)
		}
	}
}

// signedBefore is where the last revision ends that was signed or timestamped as a whole, before an offset; 0: none
// was.
func (d *inspection) signedBefore(end int64) int64 {
	i, _ := slices.BinarySearch(d.signed, end)
	if i == 0 {
		return 0
	}
	return d.signed[i-1]
}

// signedEnds are the ends of revisions that have a signature or a timestamp over all of them, in ascending order.
func (c coverage) signedEnds(f form.Fields) (all []int64) {
	for _, r := range c.ranges(f) {
		if c.of(r) != ades.Partial {
			all = append(all, r.end)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// storeUpTo reads the document security store as it was when the document had so many
// bytes. It is the same for many signatures, and read once.
func (d *inspection) storeUpTo(end int64) (store, error) {
	if s, ok := d.earlier[end]; ok || end == 0 {
		return s, nil
	}
	var s store
	file, err := d.file.Earlier(end)
	if err == nil {
		s, err = d.readProofs(file)
	}
	if err != nil {
		s = store{data: new(validation.Data)}
	}
	s.data.ChargeTo(d.known)
	if err = pdf.IgnoreMalformed(err); err == nil {
		d.earlier[end] = s
	}
	return s, err
}
