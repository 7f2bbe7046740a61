package signing_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
)

// stamped asks for the standard stamp near the upper left corner.
func stamped(in *signing.Start) {
	in.Reason = "Samþykkt"
	in.Stamp = &signing.StampRequest{Page: 1, X: 36, Y: 36}
}

// pictured asks for a picture in its place, which shows through.
func pictured(t *testing.T) func(*signing.Start) {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 40, 20))
	draw.Draw(picture, picture.Rect, image.NewUniform(color.NRGBA{R: 200, A: 128}), image.Point{}, draw.Src)
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		t.Fatal(err)
	}
	decoded, err := stamp.ReadImage(encoded.Bytes(), stamp.PNG)
	if err != nil {
		t.Fatal(err)
	}
	return func(in *signing.Start) {
		stamped(in)
		in.Stamp.Image, in.Stamp.Size = decoded, stamp.Size{Width: 80, Height: 40}
	}
}

// shown is the text that a document shows.
func shown(t *testing.T, document []byte) string {
	t.Helper()
	command := exec.Command(testenv.Program(t, "pdftotext"), "-", "-")
	command.Stdin = bytes.NewReader(document)
	text, err := command.Output()
	if err != nil {
		t.Fatalf("pdftotext: %v", err)
	}
	return string(text)
}

// wantShown says which texts a document shows, and which not.
func wantShown(t *testing.T, document []byte, texts map[string]bool) {
	t.Helper()
	text, got := shown(t, document), map[string]bool{}
	for wanted := range texts {
		got[wanted] = strings.Contains(text, wanted)
	}
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Errorf("shown is %q (-want +got):\n%s", text, diff)
	}
}

// spec 3.3: the name from the certificate, the kennitala, the time and the reason.
func TestStandardStamp(t *testing.T) {
	t.Parallel()
	s := newService(t, newPhone(t), signing.Options{IgnoreInterval: true})
	document := s.poll(s.mustStart(stamped)).Document
	s.checkSigned(document)
	wantShown(t, document, map[string]bool{"A signer": true, "010130-2989": true, "Samþykkt": true, time.Now().UTC().Format("2006"): true})
	if n := s.documents(); n != 0 {
		t.Errorf("%d documents are left", n)
	}
}

func TestNoStamp(t *testing.T) {
	t.Parallel()
	renderer := &blank{}
	s := newService(t, newPhone(t), signing.Options{IgnoreInterval: true, Renderer: renderer})
	document := s.poll(s.mustStart()).Document
	s.checkSigned(document)
	wantShown(t, document, map[string]bool{"A signer": false})
	if renderer.asked != 0 {
		t.Errorf("the page was drawn %d times", renderer.asked)
	}
}

// The certificate may turn out to be another one: the stamp is then that one's.
func TestStampOfAnotherCertificate(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	id := s.mustStart(stamped)
	first := p.digests[0].Sum
	var err error
	if p.cert, err = p.ca.Issue("Another name", kennitala, p.key.Public(), time.Now()); err != nil {
		t.Fatal(err)
	}
	p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, p.needDigest(), nil }
	if r := s.poll(id); r.Code != idp.AuthorizationPending || bytes.Equal(first, p.digests[0].Sum) {
		t.Fatalf("%+v, the digest did not change", r)
	}
	p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, p.signed(), nil }
	document := s.poll(id).Document
	s.checkSigned(document)
	wantShown(t, document, map[string]bool{"Another name": true, "A signer": false})
}

// Whom the phone alone names is who the certificate says (spec 3.8).
func TestStampOfThePhonesOwner(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	p.traits = idp.Traits{ByPhone: true}
	p.key, p.cert = p.issue("0101302479")
	s := newService(t, p, signing.Options{IgnoreInterval: true})
	wantShown(t, s.poll(s.mustStart(stamped)).Document, map[string]bool{"010130-2479": true, "010130-2989": false})
}

// A phone that makes the whole signature shows no certificate before: the stamp has no name.
func TestStampBeforeTheCertificateIsKnown(t *testing.T) {
	t.Parallel()
	s := newService(t, wholeCMS(t), signing.Options{IgnoreInterval: true})
	wantShown(t, s.poll(s.mustStart(stamped)).Document, map[string]bool{"010130-2989": true, "Samþykkt": true, "A signer": false})
}

// An image has no text. It is a document of its own, which goes with its request.
func TestStampWithAnImage(t *testing.T) {
	t.Parallel()
	ended := map[string]func(service, string){
		"delivered": func(s service, id string) { s.checkSigned(s.poll(id).Document) },
		"failed": func(s service, id string) {
			s.phone.poll = func(state idp.State) (idp.State, idp.Event, error) {
				return state, idp.Failed{Failure: idp.Failure{Code: idp.UserCancelled}}, nil
			}
			if r := s.poll(id); r.Code != idp.UserCancelled {
				s.t.Errorf("%+v", r)
			}
		},
	}
	for name, end := range ended {
		t.Run(name, func(t *testing.T) {
			s := newService(t, newPhone(t), signing.Options{IgnoreInterval: true})
			id := s.mustStart(pictured(t))
			r, err := s.db.Requests().Request(t.Context(), id)
			if err != nil || r.Stamp == nil {
				t.Fatalf("%+v, %v", r.Stamp, err)
			}
			kept := []string{r.Document, r.Stamp.Image}
			s.wantThere(kept, true)
			end(s, id)
			s.wantThere(kept, false)
		})
	}
}

// wantThere says whether documents are to be there. None was forgotten to be kept.
func (s service) wantThere(ids []string, there bool) {
	s.t.Helper()
	if n := s.documents(); n != 0 {
		s.t.Errorf("%d documents were not kept", n)
	}
	for _, id := range ids {
		blob, err := s.db.Documents().Open(s.t.Context(), id)
		if err == nil {
			blob.Close()
		}
		if (err == nil) != there {
			s.t.Errorf("document %q: %v", id, err)
		}
	}
}

// What is archived has no transparency (ISO 19005-1 6.4).
func TestImageOnAnArchivedPage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content     []byte
		transparent bool
	}{
		"PDF":     {pdftest.Build(pdftest.Options{}), true},
		"PDF/A-1": {pdftest.Archival(pdftest.Archive{Profile: "1b"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, newPhone(t), signing.Options{IgnoreInterval: true})
			started, err := s.startWith(test.content, pictured(t))
			if err != nil {
				t.Fatal(err)
			}
			document := s.poll(started.ID).Document
			s.checkSigned(document)
			if bytes.Contains(document, []byte("/SMask")) != test.transparent {
				t.Errorf("transparent: %t", !test.transparent)
			}
		})
	}
}
