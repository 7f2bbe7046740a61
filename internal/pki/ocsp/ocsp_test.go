package ocsp

import (
	"bytes"
	"crypto"
	"encoding/asn1"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
	reference "golang.org/x/crypto/ocsp"
)

// RFC 6960 4.1.1 and RFC 9654 2.1.
func TestRequestIsReadAsWritten(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	for _, h := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		for _, nonce := range [][]byte{nil, {1}, bytes.Repeat([]byte{2}, 32), bytes.Repeat([]byte{3}, MaxNonce)} {
			der, err := NewRequest(leaf.cert, ca.cert, h, nonce).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			r, err := ParseRequest(der)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(r.Nonce, nonce) || len(r.IDs) != 1 || r.IDs[0].Hash != h || !r.IDs[0].IssuedBy(ca.cert) ||
				r.IDs[0].IssuedBy(leaf.cert) || r.IDs[0].Serial.Cmp(leaf.cert.SerialNumber) != 0 {
				t.Errorf("%v: %+v", h, r)
			}
		}
	}
}

func TestRequestsThatAreNotMade(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	for name, r := range map[string]Request{
		"empty nonce":    NewRequest(ca.cert, ca.cert, crypto.SHA256, []byte{}),
		"long nonce":     NewRequest(ca.cert, ca.cert, crypto.SHA256, make([]byte, MaxNonce+1)),
		"MD5":            NewRequest(ca.cert, ca.cert, crypto.MD5, nil),
		"no hash at all": NewRequest(ca.cert, ca.cert, 0, nil),
	} {
		if _, err := r.Marshal(); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

// What is written agrees with golang.org/x/crypto/ocsp, which has no nonce.
func TestRequestAgreesWithAnotherImplementation(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	want, err := reference.CreateRequest(leaf.cert, ca.cert, &reference.RequestOptions{Hash: crypto.SHA256})
	if err != nil {
		t.Fatal(err)
	}
	got, err := NewRequest(leaf.cert, ca.cert, crypto.SHA256, nil).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// RFC 6960 4.2.1: each status, as written and as another implementation reads it.
func TestResponseIsReadAsWritten(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	responder := certify(t, "responder", ca, isResponder)
	id := newCertID(leaf.cert, ca.cert, crypto.SHA1)
	for _, want := range []Single{
		{ID: id, Status: Good, ThisUpdate: now},
		{ID: id, Status: Good, ThisUpdate: now, NextUpdate: now.Add(time.Minute), ArchiveCutoff: now.AddDate(-7, 0, 0)},
		{ID: id, Status: Revoked, RevokedAt: now.Add(-time.Hour), ThisUpdate: now},
		{ID: id, Status: Revoked, RevokedAt: now.Add(-time.Hour), Reason: 6, ThisUpdate: now, NextUpdate: now.Add(time.Minute)},
		{ID: id, Status: Unknown, ThisUpdate: now},
	} {
		t.Run(want.Status.String(), func(t *testing.T) {
			der := answer(t, leaf.cert, ca, responder, func(r *Response) {
				r.Nonce, r.Singles = []byte("nonce"), []Single{want}
			})
			r, err := Parse(der)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := r.For(leaf.cert, ca.cert)
			if !ok || !r.ProducedAt.Equal(now) || string(r.Nonce) != "nonce" || !bytes.Equal(r.Raw, der) {
				t.Fatalf("%+v", r)
			}
			got.ID.algorithm = nil // as it was written
			if diff := cmp.Diff(want, *got, cmp.AllowUnexported(CertID{}), cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); diff != "" {
				t.Error(diff)
			}
			if by, err := r.Verify(ca.cert); err != nil || !by.Equal(responder.cert) {
				t.Error(err)
			}
			theirs, err := reference.ParseResponseForCert(der, leaf.cert, ca.cert)
			if err != nil {
				t.Fatal(err)
			}
			if theirs.Status != int(want.Status) || !theirs.ThisUpdate.Equal(want.ThisUpdate) ||
				!theirs.NextUpdate.Equal(want.NextUpdate) || !theirs.RevokedAt.Equal(want.RevokedAt) || theirs.RevocationReason != want.Reason {
				t.Errorf("read by another: %+v", theirs)
			}
		})
	}
}

// What another implementation writes is read: responder by name, no nonce.
func TestResponseOfAnotherImplementation(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	responder := certify(t, "responder", ca, isResponder)
	der, err := reference.CreateResponse(ca.cert, responder.cert, reference.Response{
		Status: reference.Revoked, SerialNumber: leaf.cert.SerialNumber, RevokedAt: now.Add(-time.Minute), RevocationReason: reference.KeyCompromise,
		ThisUpdate: now, NextUpdate: now.Add(time.Hour), Certificate: responder.cert, IssuerHash: crypto.SHA256,
	}, responder.key)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Parse(der)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Verify(ca.cert); err != nil {
		t.Error(err)
	}
	single, ok := r.For(leaf.cert, ca.cert)
	if !ok || single.Status != Revoked || single.Reason != 1 || !single.RevokedAt.Equal(now.Add(-time.Minute)) {
		t.Errorf("%+v", single)
	}
	if _, ok := r.For(responder.cert, ca.cert); ok {
		t.Error("it answers about another certificate")
	}
	if _, ok := r.For(leaf.cert, responder.cert); ok {
		t.Error("it answers under another issuer")
	}
}

// RFC 6960 2.4: of several answers the newest counts.
func TestNewestAnswerCounts(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	r, err := Parse(answer(t, leaf.cert, ca, ca, func(r *Response) {
		old := r.Singles[0]
		old.ThisUpdate = now.Add(-time.Hour)
		revoked := r.Singles[0]
		revoked.Status, revoked.RevokedAt = Revoked, now
		r.Singles = []Single{old, revoked, old}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if single, ok := r.For(leaf.cert, ca.cert); !ok || single.Status != Revoked {
		t.Errorf("%+v", single)
	}
}

// RFC 6960 4.2.1, OCSPResponseStatus.
func TestRefusals(t *testing.T) {
	for _, why := range []Refusal{MalformedRequest, InternalError, TryLater, SigRequired, Unauthorized} {
		_, err := Parse(Refuse(why))
		var status *StatusError
		if !errors.As(err, &status) || status.Status != why {
			t.Errorf("%v: %v", why, err)
		}
		if _, err := reference.ParseResponse(Refuse(why), nil); !errors.As(err, new(reference.ResponseError)) {
			t.Errorf("%v, read by another: %v", why, err)
		}
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	whole := answer(t, ca.cert, ca, ca, func(r *Response) { r.Nonce = []byte{1} })
	request, err := NewRequest(ca.cert, ca.cert, crypto.SHA1, []byte{1}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole { // cut anywhere
		if _, err := Parse(whole[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("response of %d bytes: %v", n, err)
		}
	}
	for n := range request {
		if _, err := ParseRequest(request[:n]); !errors.Is(err, ErrFormat) {
			t.Fatalf("request of %d bytes: %v", n, err)
		}
	}
	if _, err := Parse(append(whole, 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte after the response: %v", err)
	}
	if _, err := Parse(make([]byte, MaxSize+1)); !errors.Is(err, ErrFormat) {
		t.Errorf("too long: %v", err)
	}
	if _, err := ParseRequest(make([]byte, MaxSize+1)); !errors.Is(err, ErrFormat) {
		t.Errorf("too long a request: %v", err)
	}
	many := Request{IDs: make([]CertID, maxSingles+1)}
	for i := range many.IDs {
		many.IDs[i] = newCertID(ca.cert, ca.cert, crypto.SHA1)
	}
	if der, err := many.Marshal(); err != nil {
		t.Fatal(err)
	} else if _, err := ParseRequest(der); !errors.Is(err, ErrFormat) {
		t.Errorf("a request about %d certificates: %v", len(many.IDs), err)
	}
}

// RFC 2560 4.4.1 left the form of a nonce open.
func TestBareNonce(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	request, err := NewRequest(ca.cert, ca.cert, crypto.SHA1, []byte("12345")).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, bare := range []string{"\x04\x071234567", "\x04\x07\x04\x0512345"} {
		r, err := ParseRequest(bytes.Replace(request, []byte("\x04\x07\x04\x0512345"), []byte(bare), 1))
		if want := bare[len(bare)-len(r.Nonce):]; err != nil || string(r.Nonce) != want || len(want) < 5 {
			t.Errorf("%q: %q, %v", bare, r.Nonce, err)
		}
	}
}

// RFC 6960 4.4: a critical extension that is not known makes a message useless.
func TestCriticalExtensions(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	request, err := NewRequest(ca.cert, ca.cert, crypto.SHA1, []byte("12345")).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	nonce, err := asn1.Marshal(oidNonce)
	if err != nil {
		t.Fatal(err)
	}
	other := append(bytes.Clone(nonce[:len(nonce)-1]), 99)
	if _, err := ParseRequest(bytes.Replace(request, nonce, other, 1)); err != nil {
		t.Errorf("an extension that is not known: %v", err)
	}
	// The value of the extension, 04 07 04 05 "12345", gives its room to a BOOLEAN.
	critical := bytes.Replace(request, []byte("\x04\x07\x04\x0512345"), []byte("\x01\x01\xff\x04\x04\x04\x0212"), 1)
	if r, err := ParseRequest(critical); err != nil || string(r.Nonce) != "12" {
		t.Errorf("a critical nonce: %v", err)
	}
	if _, err := ParseRequest(bytes.Replace(critical, nonce, other, 1)); !errors.Is(err, ErrFormat) {
		t.Errorf("a critical extension that is not known: %v", err)
	}
}

// Some responders write fractions of a second, which RFC 5280 4.1.2.5.2 does not have.
func TestTimesWithFractions(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	r, err := Parse(withFractions(t, answer(t, leaf.cert, ca, certify(t, "responder", ca, isResponder), func(r *Response) {
		r.Singles = []Single{{ID: newCertID(leaf.cert, ca.cert, crypto.SHA1), Status: Good, ThisUpdate: now, NextUpdate: now.Add(time.Minute)}}
	})))
	if err != nil {
		t.Fatal(err)
	}
	later, single := now.Add(250*time.Millisecond), r.Singles[0]
	if !r.ProducedAt.Equal(later) || !single.ThisUpdate.Equal(later) || !single.NextUpdate.Equal(later.Add(time.Minute)) {
		t.Errorf("produced at %v, this update %v, next %v", r.ProducedAt, single.ThisUpdate, single.NextUpdate)
	}
}

// withFractions returns DER with a quarter of a second added to each GeneralizedTime.
func withFractions(t *testing.T, encoded []byte) []byte {
	t.Helper()
	var b cryptobyte.Builder
	for input := cryptobyte.String(encoded); !input.Empty(); {
		var content cryptobyte.String
		var tag cbasn1.Tag
		if !input.ReadAnyASN1(&content, &tag) {
			t.Fatal("not DER")
		}
		switch {
		case tag == cbasn1.GeneralizedTime:
			content = cryptobyte.String(strings.TrimSuffix(string(content), "Z") + ".25Z")
		case tag&0x20 != 0, tag == cbasn1.OCTET_STRING && isSequence(content):
			content = withFractions(t, content)
		}
		b.AddASN1(tag, func(b *cryptobyte.Builder) { b.AddBytes(content) })
	}
	return b.BytesOrPanic()
}

// isSequence reports whether a string is one SEQUENCE, as that of responseBytes is.
func isSequence(s cryptobyte.String) bool {
	return s.SkipASN1(cbasn1.SEQUENCE) && s.Empty()
}
