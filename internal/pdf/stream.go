package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// newStream completes a stream object: Length may be a reference (7.3.8.2).
func (f *File) newStream(o indirect) (*Stream, error) {
	dict := o.value.(Dict)
	length, err := f.streamLength(dict)
	if unreadable(err) || err == nil && f.checkStreamEnd(o.payload+length) != nil {
		length, err = f.measureStream(o.payload)
	}
	if err != nil {
		return nil, fmt.Errorf("length of the stream: %w", err)
	}
	if length < 0 || length > f.size-o.payload {
		return nil, fmt.Errorf("%w: stream of %d bytes", ErrDamaged, length)
	}
	return &Stream{Dict: dict, Ref: o.ref, Offset: o.payload, Length: length}, nil
}

func (f *File) streamLength(dict Dict) (int64, error) {
	value := dict["Length"]
	if ref, ok := value.(Ref); ok {
		o, err := f.find(ref) // not Resolve: another stream's length is not needed to see that it is no number
		if err != nil {
			return 0, err
		}
		value = o.value
	}
	length, ok := value.(Integer)
	if !ok {
		return 0, fmt.Errorf("%w: Length is no integer", ErrDamaged)
	}
	return int64(length), nil
}

// payload returns the payload of a stream as it stands in the file, encoded.
func (f *File) payload(s *Stream) (*io.SectionReader, error) {
	if _, ok := s.Dict["F"]; ok {
		return nil, fmt.Errorf("%w: payload in another file", ErrUnsupported)
	}
	if err := f.checkStreamEnd(s.Offset + s.Length); err != nil {
		return nil, err
	}
	return io.NewSectionReader(f.r, s.Offset, s.Length), nil
}

// checkStreamEnd makes sure that the payload ends where Length says, so that every
// reader sees the same one.
func (f *File) checkStreamEnd(offset int64) error {
	if offset < 0 || offset > f.size {
		return fmt.Errorf("%w: it ends outside of the file", ErrDamaged)
	}
	window, err := f.read(offset, int(min(f.size-offset, 32)))
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(window, "\x00\t\n\f\r "), []byte("endstream")) {
		return fmt.Errorf("%w: no endstream at %d", ErrDamaged, offset)
	}
	return nil
}

// Stream returns the decoded payload of a stream, or [ErrLimit] when it has more than
// limit bytes, or 1 GiB. Image filters are [ErrUnsupported].
func (f *File) Stream(s *Stream, limit int64) ([]byte, error) {
	decoded, err := f.decode(s, limit)
	if err != nil {
		return nil, fmt.Errorf("pdf: decoding stream %s: %w", s.Ref.identity(), err)
	}
	return decoded, nil
}

func (f *File) decode(s *Stream, limit int64) ([]byte, error) {
	limit = min(limit, maxStreamBytes)
	decoded, err := f.decodePrefix(s, limit+1)
	if err == nil && int64(len(decoded)) > limit {
		return nil, fmt.Errorf("%w: more than %d decoded bytes", ErrLimit, limit)
	}
	return decoded, err
}

// decodePrefix returns at most limit bytes of a stream's decoded payload.
func (f *File) decodePrefix(s *Stream, limit int64) ([]byte, error) {
	payload, err := f.payload(s)
	if err != nil {
		return nil, err
	}
	filters, err := f.filters(s.Dict)
	if err != nil {
		return nil, err
	}
	r, filters, err := f.decrypted(s, payload, filters)
	if err != nil {
		return nil, err
	}
	for _, filter := range filters {
		decoded, err := filter.open(r)
		if err != nil {
			return nil, damagedPayload(string(filter.name), err)
		}
		r = &stage{r: decoded, left: 4*limit + minStageBytes}
	}
	decoded, err := io.ReadAll(io.LimitReader(r, limit))
	f.spend(int64(len(decoded)) + s.Length)
	return decoded, damagedPayload("payload", err)
}

// damagedPayload wraps the errors of decoders, which know nothing of ours.
func damagedPayload(what string, err error) error {
	if err == nil || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrLimit) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, what, err)
}
