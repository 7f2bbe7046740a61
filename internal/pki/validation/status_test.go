package validation

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// statusOf makes a response about a certificate that the root issued.
func (w *world) statusOf(cert *x509.Certificate, change func(*ocsp.Single)) []byte {
	return w.responseBy(w.root, cert, w.root.cert, change)
}

// listFor makes a list with one entry; a reason below zero: none.
func (w *world) listFor(cert *x509.Certificate, at time.Time, reason int) []byte {
	w.t.Helper()
	template := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: at, NextUpdate: at.Add(time.Hour)}
	if reason >= 0 {
		template.RevokedCertificateEntries = []x509.RevocationListEntry{{SerialNumber: cert.SerialNumber, RevocationTime: at, ReasonCode: reason}}
	}
	der, err := x509.CreateRevocationList(rand.Reader, template, w.root.cert, w.root.key)
	if err != nil {
		w.t.Fatal(err)
	}
	return der
}

// RFC 5280 5.3.1: only what is on hold is ever released.
func TestRevocationIsForGood(t *testing.T) {
	w := newWorld(t)
	signer := w.signer("A", w.root).cert
	now := time.Now()
	for _, row := range []struct {
		name   string
		reason int
		judged time.Time
		want   error
	}{
		{"on hold, and released", CertificateHold, now, nil},
		{"key compromise, and then good", 1, now, ades.ErrRevoked},
		{"no reason, and then good", 0, now, ades.ErrRevoked},
		{"key compromise after the judgement", 1, now.Add(-20 * time.Minute), nil},
	} {
		data := &Data{CRLs: [][]byte{w.listFor(signer, now.Add(-10*time.Minute), row.reason), w.listFor(signer, now.Add(-time.Minute), -1)}}
		if err := data.Status(signer, w.root.cert, Times{SigningTime: now.Add(-time.Hour), ValidationTime: row.judged}); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// RFC 6960 4.4.4: an authority may forget about what expired, unless it says for how long
// it does not. What says nothing is not collected.
func TestProofOfWhatExpired(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	template := x509.Certificate{NotBefore: now.Add(-time.Hour), NotAfter: now.Add(-time.Minute)}
	expired := w.issue("A", w.root, template).cert
	signed := now.Add(-30 * time.Minute)
	for _, row := range []struct {
		name   string
		cutoff time.Time
		want   error
	}{
		{"not said", time.Time{}, ades.ErrNoRevocation},
		{"kept", now.AddDate(-7, 0, 0), nil},
		{"kept to its second", expired.NotAfter, nil},
		{"forgotten", now.Add(-time.Second), ades.ErrNoRevocation},
	} {
		proof := w.statusOf(expired, func(s *ocsp.Single) { s.ArchiveCutoff = row.cutoff })
		w.answers["A"] = func(_, _ *x509.Certificate) (ades.RevocationData, error) {
			return ades.RevocationData{OCSP: proof}, nil
		}
		target := Target{Certificate: expired, BestSignatureTime: signed}
		_, err := collect(t, w.sources(), nil, target)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
		data := &Data{OCSP: [][]byte{proof}}
		if lacking, why := data.Lacking(NewKnown(t.Context(), ades.Sources{Roots: w.roots()}), target); !errors.Is(why, row.want) || (len(lacking) == 0) != (row.want == nil) {
			t.Errorf("%s: lacking %d, %v", row.name, len(lacking), why)
		}
	}
}

// A signer or a timestamp authority lacks a proof that was made after the use of its key or was in force then.
func TestLackingOfATime(t *testing.T) {
	w := newWorld(t)
	byList := w.signer("A", w.root).cert
	byResponder := w.issue("B", w.root, x509.Certificate{OCSPServer: []string{"http://ocsp.example"}}).cert
	now := time.Now()
	at := func(d time.Duration) *Data {
		return &Data{
			CRLs: [][]byte{w.listFor(byList, now.Add(d), -1)},
			OCSP: [][]byte{w.statusOf(byResponder, func(s *ocsp.Single) { s.ThisUpdate, s.NextUpdate = now.Add(d), now.Add(d+time.Hour) })},
		}
	}
	signer := func(c *x509.Certificate) Target {
		return Target{Certificate: c, BestSignatureTime: now.Add(-10 * time.Minute)}
	}
	authority := func(c *x509.Certificate) Target {
		return Target{Certificate: c, Times: Times{SigningTime: now.Add(-10 * time.Minute)}}
	}
	for _, row := range []struct {
		name   string
		proofs time.Duration
		target Target
		want   bool
	}{
		{"a list from after", -time.Minute, signer(byList), false},
		{"a list that was in force", -20 * time.Minute, signer(byList), false},
		{"a list that was not", -75 * time.Minute, signer(byList), true},
		{"an answer from after", -time.Minute, signer(byResponder), false},
		{"an answer of that second", -10 * time.Minute, signer(byResponder), false},
		{"an answer that was in force", -20 * time.Minute, signer(byResponder), false},
		{"an answer that was not, about a signer", -75 * time.Minute, signer(byResponder), true},
		{"an answer from after a timestamp", -time.Minute, authority(byResponder), false},
		{"an answer in force at a timestamp", -20 * time.Minute, authority(byResponder), false},
		{"an answer that was not", -75 * time.Minute, authority(byResponder), true},
	} {
		lacking, why := at(row.proofs).Lacking(NewKnown(t.Context(), ades.Sources{Roots: w.roots()}), row.target)
		if (len(lacking) == 1) != row.want || errors.Is(why, ades.ErrNoRevocation) != row.want {
			t.Errorf("%s: lacking %d, %v", row.name, len(lacking), why)
		}
	}
}

// ETSI TS 119 312: keys that nobody relies on, of authorities and of responders.
func TestKeysOfAChain(t *testing.T) {
	w := newWorld(t)
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	weak := ofAuthority()
	weak.SerialNumber, weak.NotBefore, weak.NotAfter = big.NewInt(7), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	weak.Subject.CommonName, weak.BasicConstraintsValid = "Weak", true
	issue := func(template, parent *x509.Certificate, pub, by any) *x509.Certificate {
		der, err := x509.CreateCertificate(rand.Reader, template, parent, pub, by)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	issuing := issue(&weak, w.root.cert, key.Public(), w.root.key)
	below := issue(&x509.Certificate{SerialNumber: big.NewInt(8), NotBefore: weak.NotBefore, NotAfter: weak.NotAfter}, issuing, w.root.key.Public(), key)
	if err := CheckChain([]*x509.Certificate{below, issuing, w.root.cert}, time.Now()); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("below an authority with 1024 bits: %v", err)
	}
	if err := CheckChain([]*x509.Certificate{issuing, w.root.cert}, time.Now()); err != nil {
		t.Errorf("below the root: %v", err)
	}
	if err := (Answer{Signer: issuing}).checkAlgorithms(issuing, time.Now()); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("a proof of its: %v", err)
	}
}

// The work for a document grows as it does, whoever stamped it: authorities of one name
// are not all tried for each other's certificates.
func TestWorkGrowsWithTheDocument(t *testing.T) {
	work := func(n int) int64 {
		w := newWorld(t)
		data := &Data{Certificates: []*x509.Certificate{w.root.cert}, CRLs: [][]byte{w.list(w.root)}}
		var targets []Target
		known := NewKnown(context.Background(), ades.Sources{Roots: w.roots()})
		var all []*x509.Certificate
		for range n {
			root := w.authority("Root", pair{})
			all = append(all, root.cert)
			targets = append(targets, Target{Certificate: w.signer("TSA", root).cert}, Target{Certificate: w.signer("A", w.root).cert})
		}
		known = known.With(all...)
		data.ShareLimit(known)
		for range n { // as many signatures ask about all of it
			data.Missing(known, targets...)
		}
		return maxWork - known.work.remaining
	}
	if few, many := work(8), work(32); many > 5*few {
		t.Errorf("%d for 8, %d for 32", few, many)
	}
}
