package signing_test

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/xades"
)

// invoice is the XML that most tests sign. What is between its root's tags is in every signed document
// as it is.
const (
	invoiceText = "\r\n\t<!-- to the buyer --><l:to>Þór &amp; co</l:to><![CDATA[ <as is> ]]>\r\n"
	invoice     = "<?xml version='1.0'?>\r\n<l:invoice xmlns:l=\"urn:example:invoice\"  n = '1'>" + invoiceText + "</l:invoice>\r\n<?end?>"
)

var packings = []signing.Packing{xades.Enveloped, xades.Enveloping, xades.InternallyDetached}

func newXMLService(t *testing.T, p *phone, o signing.Options) service {
	s := newService(t, p, o)
	s.format = signing.XML
	return s
}

// service.md 2.1: XML is signed at each level in each of the packings, and says why and where.
func TestXML(t *testing.T) {
	s := newXMLService(t, newPhone(t), signing.Options{})
	for _, packing := range packings {
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			t.Run(fmt.Sprint(packing, " ", level), func(t *testing.T) {
				signed := s.poll(s.mustStart(func(in *signing.Start) {
					in.Packing, in.Level = packing, level
					in.Reason, in.City, in.Country = "Samþykki", "Reykjavík", "Ísland"
				})).Document
				s.checkSigned(signed)
				if !bytes.Contains(signed, []byte(invoiceText)) {
					t.Errorf("the text is another one:\n%.300s", signed)
				}
				got := verified(t, signed, s.phone.ca.Roots()).Signatures[0]
				want := []string{"XAdES-BASELINE-" + level.String(), "Samþykki", "Reykjavík, Ísland", string(ades.WholeDocument)}
				if diff := cmp.Diff(want, []string{got.Format, got.Reason, got.Location, string(got.Coverage)}); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	s.documents()
}

// A document that somebody has signed is signed by somebody else, whatever the packings, as long as no
// signature would break (decisions.md 4.11 else).
func TestFurtherSignaturesOnXML(t *testing.T) {
	s := newXMLService(t, newPhone(t), signing.Options{})
	sign := func(content []byte, packing signing.Packing) result {
		started, err := s.startWith(content, func(in *signing.Start) { in.Packing, in.Level = packing, ades.LTA })
		if err != nil {
			t.Fatal(err)
		}
		return s.poll(started.ID)
	}
	for _, first := range packings {
		for _, second := range packings {
			t.Run(fmt.Sprint(first, " and ", second), func(t *testing.T) {
				once := sign([]byte(invoice), first)
				twice := sign(once.Document, second)
				if twice.Document == nil {
					if twice.Code != idp.UnableToHandleGivenData || first == second && first != xades.Enveloping {
						t.Fatalf("%+v", twice)
					}
					return
				}
				report := verified(t, twice.Document, s.phone.ca.Roots())
				if len(report.Signatures) != 2 || !report.Passed() {
					t.Errorf("%+v", report.Signatures)
				}
			})
		}
	}
}

// decisions.md 4.11: what is not XML that can be signed starts, and fails at a poll.
func TestXMLThatCannotBeSigned(t *testing.T) {
	signed := func() []byte {
		s := newXMLService(t, newPhone(t), signing.Options{})
		return s.poll(s.mustStart()).Document
	}()
	for name, content := range map[string]string{
		"not XML":            "This is no XML.",
		"one byte":           "\x00",
		"an open element":    "<a><b></a>",
		"two roots":          "<a/><b/>",
		"a prefix of none":   "<x:a/>",
		"an encoding of no":  "<?xml version='1.0' encoding='klingon'?><a/>",
		"bytes of no text":   "<a>\xff</a>",
		"a DOCTYPE":          "<!DOCTYPE a><a/>",
		"an entity":          "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><a>&e;</a>",
		"10,000 deep":        strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000),
		"a PDF":              "%PDF-1.7\n",
		"a signature":        string(signed[bytes.Index(signed, []byte("<ds:Signature")) : bytes.LastIndex(signed, []byte("</ds:Signature>"))+len("</ds:Signature>")]),
		"a broken signature": strings.Replace(string(signed), "Þór", "Jón", 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := newXMLService(t, newPhone(t), signing.Options{})
			started, err := s.startWith([]byte(content))
			if err != nil {
				t.Fatal(err)
			}
			var got idp.Failure
			err = s.Poll(t.Context(), account, started.ID, func(a signing.Answer) error { got = a.Failure; return nil })
			if err != nil || got.Code != idp.UnableToHandleGivenData || got.OAuth != "invalid_request" || !strings.HasSuffix(got.Description, ".") {
				t.Errorf("%+v, %v", got, err)
			}
			if r := s.poll(started.ID); !r.Finished {
				t.Errorf("told twice: %+v", r)
			}
			if n := s.documents(); n != 0 {
				t.Errorf("%d documents are left", n)
			}
		})
	}
}

// Nobody asks a phone that makes a whole CMS to sign XML.
func TestXMLOnAPhoneThatMakesTheSignature(t *testing.T) {
	s := newXMLService(t, wholeCMS(t), signing.Options{})
	if _, err := s.start(); !errors.Is(err, signing.ErrFormat) {
		t.Error(err)
	}
	if n := s.documents(); n != 0 || s.phone.calls != 0 {
		t.Errorf("%d documents are left, %d calls", n, s.phone.calls)
	}
}

// The document of an order grows, and stays its owner's.
func TestXMLIsNotSignedToOrder(t *testing.T) {
	s := newXMLService(t, newPhone(t), signing.Options{})
	_, err := s.start(func(in *signing.Start) { in.Order = &signing.Order{ID: "order"} })
	if !errors.Is(err, signing.ErrFormat) || s.phone.calls != 0 {
		t.Errorf("%v, %d calls", err, s.phone.calls)
	}
}

// The evidence log tells of XML what it tells of a PDF, and how it is packed.
func TestEvidenceOfXML(t *testing.T) {
	s := newXMLService(t, newPhone(t), signing.Options{})
	id := s.mustStart(func(in *signing.Start) { in.Packing, in.Level = xades.Enveloping, ades.LT })
	signed := s.poll(id).Document
	all := s.facts(id)
	want := facts{"size": float64(len(invoice)), "sha256": sha256Of([]byte(invoice)), "packing": "Enveloping"}
	asked := facts{"size": all["signature.asked"]["size"], "sha256": all["signature.asked"]["sha256"], "packing": all["signature.asked"]["packing"]}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(facts{"level": "LT", "sha256": sha256Of(signed), "size": float64(len(signed))}, all["signature.completed"]); diff != "" {
		t.Error(diff)
	}
}

// narrow has room for one document after the other, when that is wanted.
type narrow struct {
	creating
	full bool
}

func (n *narrow) Documents() storage.Documents { return narrowDocuments{n.creating.Documents(), n} }

type narrowDocuments struct {
	storage.Documents
	of *narrow
}

func (d narrowDocuments) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if d.of.full {
		return storage.Ref{}, fmt.Errorf("%w: test", storage.ErrFull)
	}
	return d.Documents.Create(ctx, r, limit, hashes...)
}

// A store without room for the signed document is not pressed, and delivers it once there is room.
// What was sent is gone when the signed one is there, and that when it was delivered.
func TestXMLWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		db := &narrow{creating: creating{DB: newStore(t)}}
		o := newOutage(p.ca)
		s := onStore(t, db, p, signing.Options{Sources: o.sources, AnyPace: true})
		s.format = signing.XML
		id := s.atLevel(ades.LT)
		db.full = true
		poll := func() error { return s.Poll(t.Context(), account, id, func(signing.Answer) error { return nil }) }
		if err := poll(); !errors.Is(err, storage.ErrFull) {
			t.Errorf("without room: %v", err)
		}
		asked := o.asked.Load()
		for range 10 {
			time.Sleep(time.Second)
			if err := poll(); err != nil {
				t.Errorf("while there is no room: %v", err)
			}
		}
		if more := o.asked.Load() - asked; more != 0 {
			t.Errorf("the sources were asked %d times more", more)
		}
		db.full = false
		time.Sleep(time.Minute)
		broken := errors.New("connection broken")
		if err := s.Poll(t.Context(), account, id, func(signing.Answer) error { return broken }); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		if len(db.created) != 2 {
			t.Fatalf("%d documents were created", len(db.created))
		}
		s.wantThere(db.created[:1], false)
		s.wantThere(db.created[1:], true)
		s.checkSigned(s.poll(id).Document)
		s.wantThere(db.created, false)
	})
}
