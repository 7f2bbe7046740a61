package pdf

import "fmt"

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
	return !p.doubled, nil
}

// Distinct says the same of the object that ref names.
func (f *File) Distinct(ref Ref) (bool, error) {
	o, err := f.find(ref)
	if err != nil {
		return false, fmt.Errorf("pdf: object %s: %w", ref.identity(), err)
	}
	return !o.doubled, nil
}

// Doubled says whether that is not so of an object that was read so far.
func (f *File) Doubled() bool { return f.doubled }
