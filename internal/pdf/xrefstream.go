package pdf

import (
	"fmt"
	"slices"
)

// stream reads a cross-reference stream (7.5.8).
func (x *xrefReader) stream(at int64) (section, error) {
	o, err := x.file.indirectAt(at)
	if err != nil {
		return section{}, err
	}
	dict, ok := o.value.(Dict)
	if !ok || !o.stream || dict["Type"] != Name("XRef") {
		return section{}, fmt.Errorf("%w: neither a table nor a cross-reference stream", ErrDamaged)
	}
	length, ok := dict["Length"].(Integer)
	if !ok {
		return section{}, fmt.Errorf("%w: cross-reference stream without a direct Length", ErrDamaged)
	}
	s := &Stream{Dict: dict, Ref: o.ref, Offset: o.payload, Length: int64(length)}
	if err := x.streamEntries(s); err != nil {
		return section{}, err
	}
	end := s.Offset + s.Length
	return section{offset: at, end: end, stream: true, trailer: dict, source: slices.Clone(o.source)}, nil
}

// streamEntries reads the entries of a cross-reference stream.
func (x *xrefReader) streamEntries(s *Stream) error {
	widths, err := fieldWidths(s.Dict)
	if err != nil {
		return err
	}
	runs, total, err := x.indexRuns(s.Dict)
	if err != nil {
		return err
	}
	// The payload may be longer than its entries: a limit on it is no error here.
	payload, err := x.file.decodePrefix(s, total*int64(widths.entry()))
	if err != nil {
		return err
	}
	for _, run := range runs {
		for i := range run.count {
			if len(payload) < widths.entry() {
				return fmt.Errorf("%w: cross-reference stream ends before its entries do", ErrDamaged)
			}
			if err := x.streamEntry(run.first+i, widths, payload); err != nil {
				return err
			}
			payload = payload[widths.entry():]
		}
	}
	return nil
}

// widths are the sizes in bytes of an entry's three fields (Table 17, W).
type widths [3]int

func (w widths) entry() int { return w[0] + w[1] + w[2] }

func fieldWidths(dict Dict) (w widths, err error) {
	array, ok := dict["W"].(Array)
	if !ok || len(array) < len(w) {
		return w, fmt.Errorf("%w: cross-reference stream without field widths", ErrDamaged)
	}
	for i := range w {
		n, ok := array[i].(Integer)
		if !ok || n < 0 || n > 8 {
			return w, fmt.Errorf("%w: field width in a cross-reference stream", ErrDamaged)
		}
		w[i] = int(n)
	}
	if len(array) > len(w) || w.entry() == 0 {
		return w, fmt.Errorf("%w: cross-reference stream with %d fields of %d bytes", ErrUnsupported, len(array), w.entry())
	}
	return w, nil
}

// run is a range of consecutive object numbers.
type run struct{ first, count int64 }

// indexRuns returns the ranges of Index, by default all numbers below Size, and the
// number of entries.
func (x *xrefReader) indexRuns(dict Dict) (runs []run, total int64, err error) {
	index, ok := dict["Index"].(Array)
	if !ok {
		index = Array{Integer(0), dict["Size"]}
	}
	for ; len(index) >= 2; index = index[2:] {
		first, ok1 := index[0].(Integer)
		count, ok2 := index[1].(Integer)
		if !ok1 || !ok2 || first < 0 || count < 0 {
			return nil, 0, fmt.Errorf("%w: Index of a cross-reference stream", ErrDamaged)
		}
		if first > maxObjectNumber || int64(count) > int64(x.file.maxEntries())-total {
			return nil, 0, fmt.Errorf("%w: Index of a cross-reference stream", ErrLimit)
		}
		runs = append(runs, run{int64(first), int64(count)})
		total += int64(count)
	}
	return runs, total, nil
}

// streamEntry reads the entry that payload begins with (Table 18).
func (x *xrefReader) streamEntry(num int64, w widths, payload []byte) error {
	kind := uint64(plainEntry) // the default when the field has no width
	if w[0] > 0 {
		kind = bigEndian(payload[:w[0]])
	}
	second := bigEndian(payload[w[0] : w[0]+w[1]])
	third := bigEndian(payload[w[0]+w[1] : w.entry()])
	switch kind {
	case uint64(freeEntry):
		return x.add(num, xrefEntry{})
	case uint64(plainEntry):
		return x.addPlain(num, second, third)
	case uint64(compressedEntry):
		if second > maxObjectNumber || third > maxEntries {
			return fmt.Errorf("%w: object %d in object stream %d at index %d", ErrLimit, num, second, third)
		}
		return x.add(num, xrefEntry{kind: compressedEntry, offset: int64(second), index: uint32(third)})
	}
	return x.add(num, xrefEntry{}) // other types are references to null (7.5.8.3)
}

func bigEndian(field []byte) (n uint64) {
	for _, b := range field {
		n = n<<8 | uint64(b)
	}
	return n
}
