package dsig

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// decode writes what the text of a selection is the base64 of (xmldsig-core1 6.6.2), a run of text at a
// time.
func (s *Signature) decode(w io.Writer, sel selection) error {
	out, err := s.work.begin(w, sel.apex)
	if err != nil {
		return err
	}
	apex := sel.apex
	if apex == (xmldoc.Node{}) {
		apex = s.Document.Root()
	}
	d := &decoder{out: out}
	if err := d.text(apex, sel.subset().Without); err != nil {
		return err
	}
	return d.end()
}

// decoder decodes base64 that comes in pieces with white space in it.
type decoder struct {
	out   io.Writer
	group []byte // of at most decodeAtOnce characters, not decoded yet
	ended bool   // by padding
}

// decodeAtOnce is a multiple of the four characters that make three octets.
const decodeAtOnce = 4096

// text takes the text in an element but for that of elements left out.
func (d *decoder) text(in xmldoc.Node, without func(xmldoc.Node) bool) error {
	for n := range in.Children() {
		var err error
		switch {
		case n.Kind() == xmldoc.Text:
			err = d.characters(n)
		case n.Kind() == xmldoc.Element && (without == nil || !without(n)):
			err = d.text(n, without)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) characters(run xmldoc.Node) error {
	for piece := range run.Pieces() {
		for _, c := range piece {
			if strings.IndexByte(space, c) >= 0 {
				continue
			}
			if d.group = append(d.group, c); len(d.group) == decodeAtOnce {
				if err := d.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *decoder) end() error { return d.flush() }

// flush decodes what has come. Padding is only at the very end.
func (d *decoder) flush() error {
	if len(d.group) == 0 {
		return nil
	}
	var octets [decodeAtOnce / 4 * 3]byte
	n, err := base64.StdEncoding.Strict().Decode(octets[:], d.group)
	if err != nil || d.ended {
		return fmt.Errorf("%w: to what is no base64", ErrReference)
	}
	d.ended = d.group[len(d.group)-1] == '='
	d.group = d.group[:0]
	_, err = d.out.Write(octets[:n])
	return err
}
