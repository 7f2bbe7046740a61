package xades

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/signerjson"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// encodedPending is the encoding of a Pending. Later versions of this package go on reading it.
type encodedPending struct {
	Version int `json:"version"`
	signerjson.Signer
	Base     int64   `json:"base"`
	BaseSum  []byte  `json:"baseSum"`
	ID       string  `json:"id"`
	Encoding int     `json:"encoding,omitempty"`
	Before   []Piece `json:"before"`
	Head     string  `json:"head"`
	Body     string  `json:"body"`
	Foot     string  `json:"foot"`
	After    []Piece `json:"after"`
	Level    int     `json:"level,omitempty"`
}

const pendingVersion = 1

// MarshalBinary encodes the signature so far.
func (p *Pending) MarshalBinary() ([]byte, error) {
	return json.Marshal(encodedPending{
		Version: pendingVersion, Signer: signerjson.Encode(p.signer), Base: p.base, BaseSum: p.baseSum,
		ID: string(p.frame.ids), Encoding: int(p.frame.encoding), Before: p.frame.before, After: p.frame.after,
		Head: p.text.head, Body: p.text.body, Foot: p.text.foot, Level: int(p.level),
	})
}

// UnmarshalBinary decodes what MarshalBinary of this or an earlier version made.
func (p *Pending) UnmarshalBinary(b []byte) error {
	decoded, err := decodePending(b)
	if err != nil {
		return fmt.Errorf("xades: decoding a pending signature: %w", err)
	}
	*p = decoded
	return nil
}

func decodePending(b []byte) (p Pending, err error) {
	var e encodedPending
	if err := json.Unmarshal(b, &e); err != nil {
		return p, err
	}
	if e.Version != pendingVersion {
		return p, fmt.Errorf("version %d is not known", e.Version)
	}
	p = Pending{base: e.Base, baseSum: e.BaseSum, level: ades.Level(e.Level), text: text{e.Head, e.Body, e.Foot}}
	if err := checkLevel(p.level); err != nil {
		return p, err
	}
	if p.signer, err = e.Decode(); err != nil {
		return p, err
	}
	if p.frame, err = e.frame(); err != nil {
		return p, err
	}
	p.signedInfo, err = p.text.signedInfo()
	return p, err
}

func (e encodedPending) frame() (frame, error) {
	f := frame{ids: ids(e.ID), encoding: xmldoc.Encoding(e.Encoding), before: e.Before, after: e.After}
	if f.encoding < xmldoc.SingleBytes || f.encoding > xmldoc.BigEndian {
		return f, fmt.Errorf("encoding %d is not known", e.Encoding)
	}
	for _, pieces := range [][]Piece{f.before, f.after} {
		for _, p := range pieces {
			if p.From < 0 || p.To < p.From || p.To > e.Base {
				return f, errors.New("a piece is outside of the document")
			}
		}
	}
	return f, nil
}
