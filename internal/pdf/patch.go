package pdf

import (
	"bytes"
	"fmt"
	"slices"
)

// Key returns the source text of the value of key in src, the source text of a dictionary.
func Key(src []byte, key Name) (value []byte, ok bool, err error) {
	_, err = dictSource(src, func(e entry) {
		if e.key == key { // if a key is repeated, its last value counts
			value, ok = src[e.start:e.end], true
		}
	})
	if err != nil {
		return nil, false, err
	}
	return value, ok, nil
}

// SetKey returns the source text of a dictionary with the source text of one value replaced, or
// with a new entry at the end if the key is missing. All other bytes stay unchanged. If the key is
// repeated, every value is replaced, because readers differ in which value they take.
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

// AppendItem returns the source text of an array with the source text of one more item at its end.
// All other bytes stay unchanged.
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

// HasDistinctKeys reports whether no dictionary in the source text of an object has two different values
// for a key. Readers differ in which value they take (7.3.7).
func HasDistinctKeys(source []byte) (bool, error) {
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

// dictSource calls visit with each entry of a dictionary's source text. It returns the position of
// the closing brackets.
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
		return nil, fmt.Errorf("pdf: %w", syntaxError("not a %s", kind))
	}
	return p, nil
}

// end returns an error unless only white space and comments follow.
func (p *parser) end() error {
	if p.skipSpace(); p.pos < len(p.buf) {
		return syntaxError("text behind the object")
	}
	return nil
}

// singleObject returns src without the white space and comments around its one object. A comment at
// the end could otherwise hide the text that is added after it. singleObject returns an error if
// src is not the source text of one object.
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

// spaced returns token, with a space before it if it would otherwise merge with the token before it
// (7.2.3). An empty name merges too.
func spaced(before, token []byte) []byte {
	if len(before) == 0 || !isRegular(token[0]) {
		return token
	}
	if last := before[len(before)-1]; !isRegular(last) && last != '/' {
		return token
	}
	return append([]byte{' '}, token...)
}
