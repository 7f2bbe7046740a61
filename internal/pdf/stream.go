package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// objectStream is a decoded object stream (7.5.7).
type objectStream struct {
	content []byte // the decoded bytes from First on
	objects []objectStreamEntry
	offsets map[uint32]uint32 // offsets in content by object number; nil until an index is wrong
}

// objectStreamEntry is a pair of integers at the start of an object stream.
type objectStreamEntry struct {
	num    uint32
	offset uint32 // in the content of the object stream
}

// streamCache has the object streams that were read last. order has their numbers, the oldest
// first.
type streamCache struct {
	byNum map[uint32]*objectStream
	order []uint32
	bytes int
}

// Stream returns the decoded payload of a stream. It returns [ErrLimit] if the payload has more
// than limit bytes or more than 1 GiB, and [ErrUnsupported] for image filters.
func (f *File) Stream(s *Stream, limit int64) ([]byte, error) {
	decoded, err := f.decode(s, limit)
	if err != nil {
		return nil, fmt.Errorf("pdf: decoding stream %s: %w", s.Ref.identity(), err)
	}
	return decoded, nil
}

// newStream returns the stream of an object. Its Length may be a reference (7.3.8.2). If Length is
// missing or wrong, newStream measures the payload.
func (f *File) newStream(o indirect) (*Stream, error) {
	dict := o.value.(Dict)
	length, err := f.streamLength(dict)
	if isUnreadable(err) || err == nil && f.checkStreamEnd(o.payload+length) != nil {
		length, err = f.measureStream(o.payload)
	}
	if err != nil {
		return nil, fmt.Errorf("/Length of the stream: %w", err)
	}
	if length < 0 || length > f.size-o.payload {
		return nil, fmt.Errorf("%w: stream of %d bytes", ErrDamaged, length)
	}
	return &Stream{Dict: dict, Ref: o.ref, Offset: o.payload, Length: length}, nil
}

func (f *File) streamLength(dict Dict) (int64, error) {
	value := dict["Length"]
	if ref, ok := value.(Ref); ok {
		// find, not resolve: if the object is a stream, its length is not needed to refuse it.
		o, err := f.find(ref)
		if err != nil {
			return 0, err
		}
		value = o.value
	}
	length, ok := value.(Integer)
	if !ok {
		return 0, fmt.Errorf("%w: Length is not an integer", ErrDamaged)
	}
	return int64(length), nil
}

// payload returns the encoded payload of a stream, as the file has it.
func (f *File) payload(s *Stream) (*io.SectionReader, error) {
	if _, ok := s.Dict["F"]; ok {
		return nil, fmt.Errorf("%w: the payload is in another file", ErrUnsupported)
	}
	if err := f.checkStreamEnd(s.Offset + s.Length); err != nil {
		return nil, err
	}
	return io.NewSectionReader(f.r, s.Offset, s.Length), nil
}

// checkStreamEnd returns an error unless endstream follows at offset, so that every reader sees the
// same payload.
func (f *File) checkStreamEnd(offset int64) error {
	if offset < 0 || offset > f.size {
		return fmt.Errorf("%w: the stream ends outside the file", ErrDamaged)
	}
	window, err := f.read(offset, int(min(f.size-offset, lookahead)))
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(window, "\x00\t\n\f\r "), []byte("endstream")) {
		return fmt.Errorf("%w: no endstream at %d", ErrDamaged, offset)
	}
	return nil
}

func (f *File) decode(s *Stream, limit int64) ([]byte, error) {
	limit = min(limit, maxStreamBytes)
	decoded, err := f.decodePrefix(s, limit+1)
	if err == nil && int64(len(decoded)) > limit {
		return nil, fmt.Errorf("%w: more than %d decoded bytes", ErrLimit, limit)
	}
	return decoded, err
}

// decodePrefix returns the first limit bytes of the decoded payload of a stream.
func (f *File) decodePrefix(s *Stream, limit int64) ([]byte, error) {
	payload, err := f.payload(s)
	if err != nil {
		return nil, err
	}
	filters, err := f.filters(s.Dict)
	if err != nil {
		return nil, err
	}
	r, filters, err := f.decryptPayload(s, payload, filters)
	if err != nil {
		return nil, err
	}
	for _, filter := range filters {
		decoded, err := filter.open(r)
		if err != nil {
			return nil, damagedPayload(string(filter.name), err)
		}
		r = &boundedStage{r: decoded, left: 4*limit + minStageBytes}
	}
	decoded, err := io.ReadAll(io.LimitReader(r, limit))
	f.spend(int64(len(decoded)) + s.Length)
	return decoded, damagedPayload("payload", err)
}

// damagedPayload wraps the errors of decoders in [ErrDamaged].
func damagedPayload(what string, err error) error {
	if err == nil || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, what, err)
}

func (c *streamCache) put(num uint32, s *objectStream) {
	if c.byNum == nil {
		c.byNum = map[uint32]*objectStream{}
	}
	c.byNum[num] = s
	c.order = append(c.order, num)
	for c.bytes += s.size(); c.bytes > maxCachedStreams && len(c.order) > 1; c.order = c.order[1:] {
		c.bytes -= c.byNum[c.order[0]].size()
		delete(c.byNum, c.order[0])
	}
}

// find returns the offset in content of an object. The index in the cross-reference may be wrong;
// readers go by the object number.
func (s *objectStream) find(num uint32, index int) (offset uint32, ok bool) {
	if index < len(s.objects) && s.objects[index].num == num {
		return s.objects[index].offset, true
	}
	if s.offsets == nil {
		s.offsets = make(map[uint32]uint32, len(s.objects))
		// Of several objects with one number, the first counts.
		for _, o := range slices.Backward(s.objects) {
			s.offsets[o.num] = o.offset
		}
	}
	offset, ok = s.offsets[num]
	return offset, ok
}

// size returns the estimated memory in bytes of the object stream, with its map of offsets.
func (s *objectStream) size() int { return len(s.content) + 32*len(s.objects) }

// compressed reads an object in an object stream. Such an object is never a stream.
func (f *File) compressed(ref Ref, e xrefEntry) (indirect, error) {
	s, err := f.objectStream(uint32(e.offset))
	if err != nil {
		return indirect{}, fmt.Errorf("object stream %d: %w", e.offset, err)
	}
	at, ok := s.find(ref.Num, int(e.index))
	if !ok {
		return indirect{}, misplaced("it is not in object stream %d", e.offset)
	}
	p := &parser{buf: s.content, pos: int(at), final: true}
	p.skipSpace()
	start := p.pos
	value, err := p.object()
	f.spend(int64(p.pos - start))
	return indirect{ref: ref, value: value, source: s.content[start:p.pos], ended: true, closed: true, duplicateKeys: p.duplicateKeys}, err
}

// objectStream returns an object stream from the cache or the file.
func (f *File) objectStream(num uint32) (*objectStream, error) {
	if s, ok := f.streams.byNum[num]; ok {
		return s, nil
	}
	// The reading of an object stream may need an object in another object stream or, in a hostile
	// file, in the same one.
	if f.nesting++; f.nesting > maxNesting {
		f.nesting--
		return nil, fmt.Errorf("%w: object streams refer to each other in a circle", ErrDamaged)
	}
	defer func() { f.nesting-- }()
	s, err := f.readObjectStream(num)
	if err == nil {
		f.streams.put(num, s)
	}
	return s, err
}

func (f *File) readObjectStream(num uint32) (*objectStream, error) {
	if e := f.entries.get(num); e.kind != uncompressedEntry {
		return nil, misplaced("there is no such stream")
	}
	o, err := f.object(Ref{Num: num, Gen: f.entries.get(num).gen})
	if err != nil {
		return nil, err
	}
	stream, ok := o.(*Stream)
	if !ok || stream.Dict["Type"] != Name("ObjStm") {
		return nil, misplaced("not an object stream")
	}
	payload, err := f.decode(stream, maxObjectStream)
	if err != nil {
		return nil, err
	}
	return f.splitObjectStream(stream.Dict, payload)
}

// splitObjectStream reads the pairs of object numbers and offsets at the start of an object stream,
// up to the first malformed one.
func (f *File) splitObjectStream(dict Dict, payload []byte) (*objectStream, error) {
	n, err := resolveTo[Integer](f, dict["N"])
	if err != nil {
		return nil, err
	}
	first, err := resolveTo[Integer](f, dict["First"])
	if err != nil {
		return nil, err
	}
	if first < 0 || int64(first) > int64(len(payload)) || n < 0 {
		return nil, fmt.Errorf("%w: First is %d and N is %d, which the object stream is too short for", ErrDamaged, first, n)
	}
	n = min(n, first) // each pair takes more than one byte
	s := &objectStream{content: payload[first:], objects: make([]objectStreamEntry, 0, n/2)}
	p := &parser{buf: payload[:first], final: true}
	for range n {
		at, err := p.objectStreamEntry(len(s.content))
		if err != nil {
			break // N may be too high; the pairs before are valid
		}
		s.objects = append(s.objects, at)
	}
	return s, nil
}

func (p *parser) objectStreamEntry(size int) (objectStreamEntry, error) {
	num, err := p.digits()
	if err != nil {
		return objectStreamEntry{}, err
	}
	offset, err := p.digits()
	if err != nil {
		return objectStreamEntry{}, err
	}
	if num > maxObjectNumber || offset > int64(size) {
		return objectStreamEntry{}, fmt.Errorf("%w: object %d at %d in an object stream", ErrDamaged, num, offset)
	}
	return objectStreamEntry{num: uint32(num), offset: uint32(offset)}, nil
}
