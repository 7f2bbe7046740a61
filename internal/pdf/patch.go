package pdf

import (
	"bytes"
	"fmt"
	"slices"
)

// Key returns the source text of a key's value in the source text of a dictionary.
func Key(src []byte, key Name) (value []byte, ok bool, err error) {
	_, err = dictSource(src, func(e entry) {
		if e.key == key { // of equal keys the last counts
			value, ok = src[e.start:e.end], true
		}
	})
	if err != nil {
		return nil, false, err
	}
	return value, ok, nil
}

// SetKey returns the source text of a dictionary with the source text of one value changed,
// or the entry added at the end. All other bytes stay as they are. Where the key stands
// several times, every value is replaced: readers do not agree which one counts.
func SetKey(src []byte, key Name, value []byte) ([]byte, error) {
	value, err := singleObject(value)
	if err != nil {
		return nil, fmt.Errorf("pdf: value of /%.32s: %w", key, err)
	}
	var spans []entry
	closing, err := dictSource(src, func(e entry) {
		if e.key == key {
			spans = append(spans, e)
		}
	})
	if err != nil {
		return nil, err
	}
	if len(spans) == 0 {
		name := NameToken(key)
		return splice(src, closing, closing, append(name, spaced(name, value)...)), nil
	}
	for _, e := range slices.Backward(spans) {
		src = splice(src, e.start, e.end, spaced(src[:e.start], value))
	}
	return src, nil
}

// AppendItem returns the source text of an array with an item's source text at its end.
// All other bytes stay as they are.
func AppendItem(src, item []byte) ([]byte, error) {
	item, err := singleObject(item)
	if err != nil {
		return nil, fmt.Errorf("pdf: array item: %w", err)
	}
	p, err := sourceOf(src, "[", "array")
	if err != nil {
		return nil, err
	}
	closing, err := p.eachItem(func(int, Object) {})
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, fmt.Errorf("pdf: array: %w", err)
	}
	return splice(src, closing, closing, spaced(src[:closing], item)), nil
}

// Distinct says whether no dictionary in the source text of an object has two values for a key: readers differ in
// which counts (7.3.7).
func Distinct(source []byte) (bool, error) {
	p := &parser{buf: source, final: true}
	_, err := p.object()
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return false, fmt.Errorf("pdf: %w", err)
	}
	return !p.duplicateKeys, nil
}

// dictSource calls visit for the entries of a dictionary's source text and returns where
// its closing brackets stand.
func dictSource(src []byte, visit func(entry)) (closing int, err error) {
	p, err := sourceOf(src, "<<", "dictionary")
	if err != nil {
		return 0, err
	}
	closing, err = p.eachEntry(visit)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return 0, fmt.Errorf("pdf: dictionary: %w", err)
	}
	return closing, nil
}

// sourceOf returns a parser at the opening bracket of a source text.
func sourceOf(src []byte, opening, kind string) (*parser, error) {
	p := &parser{buf: src, final: true}
	p.skipSpace()
	if !bytes.HasPrefix(src[p.pos:], []byte(opening)) {
		return nil, fmt.Errorf("pdf: %w", syntaxError("source of no %s", kind))
	}
	return p, nil
}

// end makes sure that nothing follows.
func (p *parser) end() error {
	if p.skipSpace(); p.pos < len(p.buf) {
		return syntaxError("text behind the object")
	}
	return nil
}

// oneObject makes sure that src is the source text of one object, and returns it without
// the white space and comments around it, which could swallow what is put behind.
func singleObject(src []byte) ([]byte, error) {
	p := &parser{buf: src, final: true}
	p.skipSpace()
	start := p.pos
	if _, err := p.object(); err != nil {
		return nil, err
	}
	object := src[start:p.pos]
	return object, p.end()
}

// splice returns a copy of src with src[start:end] replaced.
func splice(src []byte, start, end int, replacement []byte) []byte {
	return slices.Concat(src[:start], replacement, src[end:])
}

// spaced returns token with a space before it where it would merge with what precedes
// (7.2.3), as it would with an empty name too.
func spaced(before, token []byte) []byte {
	if len(before) == 0 || !isRegular(token[0]) {
		return token
	}
	if last := before[len(before)-1]; !isRegular(last) && last != '/' {
		return token
	}
	return append([]byte{' '}, token...)
}
