package xades

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// findProperties finds the properties where the schema has them and nowhere else: QualifyingProperties in
// an Object of this very signature, and SignedProperties in those, if they are what the signature signs.
// Properties that are not signed, or another signature's, are what wrapping attacks show to readers who
// look for them by name.
func (s *signature) findProperties() error {
	s.shown = s.findShown()
	if err := s.findQualifying(); err != nil || s.qualifying == (xmldoc.Node{}) {
		return errors.Join(err, s.findSigned(xmldoc.Node{}))
	}
	signed, err := only(s.qualifying, ns132, "SignedProperties")
	if err == nil {
		err = s.findSigned(signed)
	}
	unsigned, problem := only(s.qualifying, ns132, "UnsignedProperties")
	if problem == nil {
		s.unsigned, problem = only(unsigned, ns132, "UnsignedSignatureProperties")
	}
	return errors.Join(err, problem)
}

// findShown is the one element SignedProperties in an Object, of any edition of XAdES; zero where there are several.
func (s *signature) findShown() (shown xmldoc.Node) {
	for _, object := range s.Objects {
		for e := range object.Elements() {
			space := e.Name().Space
			if !strings.HasPrefix(space, editions) || !e.Is(space, "QualifyingProperties") {
				continue
			}
			if shown != none {
				return none
			}
			shown, _ = only(e, space, "SignedProperties")
		}
	}
	return shown
}

func (s *signature) findQualifying() error {
	for _, object := range s.Objects {
		for e := range object.Elements() {
			switch {
			case !e.Is(ns132, "QualifyingProperties"):
			case s.qualifying != (xmldoc.Node{}):
				s.qualifying = xmldoc.Node{}
				return errors.New("the signature has several QualifyingProperties")
			default:
				s.qualifying = e
			}
		}
	}
	if s.qualifying == (xmldoc.Node{}) {
		return nil
	}
	if target, _ := s.qualifying.Attr("", "Target"); s.ID == "" || target != "#"+s.ID {
		s.qualifying = xmldoc.Node{}
		return errors.New("the QualifyingProperties are not for this signature")
	}
	return nil
}

// errUnsigned: nothing is missing, but what is there is not signed.
var errUnsigned = errors.New("the signature does not sign its properties")

// findSigned notes the SignedProperties if they are what the one reference of their type leads to, as they
// stand: a transform that makes something else of them would have something else signed.
func (s *signature) findSigned(signed xmldoc.Node) error {
	others := func(r xmldsig.Reference) bool { return r.Type != propertiesType }
	found := slices.DeleteFunc(slices.Clone(s.References), others)
	switch {
	case len(found) == 0 && signed == none:
		return nil
	case len(found) == 0:
		return errUnsigned
	case len(found) != 1:
		return fmt.Errorf("the signature has %d references to signed properties", len(found))
	case slices.ContainsFunc(found[0].Transforms, func(t xmldsig.Transform) bool { return t.Kind != xmldsig.Canonicalize }):
		return errors.New("the signed properties are transformed into something else")
	}
	target, err := s.Target(found[0])
	switch {
	case err != nil:
		return err
	case signed == none || target != signed:
		return errors.New("the signature signs other properties than its own")
	}
	s.properties = signed
	return nil
}

// only is the one child element of that name; zero when there is none. Of several, nobody can tell which
// one is meant.
func only(parent xmldoc.Node, space, local string) (found xmldoc.Node, err error) {
	if parent == found {
		return found, nil
	}
	for e := range parent.Elements() {
		switch {
		case !e.Is(space, local):
		case found != (xmldoc.Node{}):
			return xmldoc.Node{}, fmt.Errorf("there are several elements %s", local)
		default:
			found = e
		}
	}
	return found, nil
}

// at follows a path of elements of one namespace, each the only one of its name; zero where it ends.
func at(n xmldoc.Node, path ...string) xmldoc.Node {
	for _, local := range path {
		n, _ = only(n, n.Name().Space, local)
	}
	return n
}

// textAt is the text at the end of a path.
func textAt(n xmldoc.Node, path ...string) string {
	if n = at(n, path...); n == (xmldoc.Node{}) {
		return ""
	}
	return strings.TrimSpace(n.Text())
}

// describe notes what the signer says in signed properties (EN 319 132-1 5.2.1, 5.2.3, 5.2.5).
func (s *signature) describe() {
	about := at(s.properties, "SignedSignatureProperties")
	s.time = parseTime(textAt(about, "SigningTime"))
	for _, place := range []string{"SignatureProductionPlaceV2", "SignatureProductionPlace"} {
		if n := at(about, place); n != (xmldoc.Node{}) {
			s.city, s.country = textAt(n, "City"), textAt(n, "CountryName")
			break
		}
	}
	objects := at(s.properties, "SignedDataObjectProperties")
	if objects == (xmldoc.Node{}) {
		return
	}
	for e := range objects.Elements() {
		if s.reason == "" && e.Is(ns132, "CommitmentTypeIndication") {
			s.reason = textAt(e, "CommitmentTypeId", "Description")
		}
	}
}

// parseTime reads an xsd:dateTime; zero when it is none. Without a zone it is taken for UTC.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
