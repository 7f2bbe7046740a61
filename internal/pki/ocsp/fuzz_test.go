package ocsp

import (
	"bytes"
	"crypto"
	"testing"
)

// What is read stays within the limits, and can be asked without a panic.
func FuzzParse(f *testing.F) {
	ca := certify(f, "CA", nil, isAuthority)
	leaf := certify(f, "leaf", ca, nil)
	f.Add(Refuse(TryLater))
	f.Add(answer(f, leaf.cert, ca, ca, nil))
	f.Add(answer(f, leaf.cert, ca, certify(f, "responder", ca, isResponder), func(r *Response) {
		r.Nonce = []byte("nonce")
		s := &r.Singles[0]
		s.Status, s.RevokedAt, s.Reason, s.ArchiveCutoff = Revoked, now, 1, now
	}))
	f.Fuzz(func(t *testing.T, der []byte) {
		r, err := Parse(der)
		if err != nil {
			return
		}
		if len(r.Singles) > maxSingles || len(r.Certificates) > maxCertificates || len(r.Nonce) > MaxNonce {
			t.Errorf("%d answers, %d certificates, nonce of %d bytes", len(r.Singles), len(r.Certificates), len(r.Nonce))
		}
		r.For(leaf.cert, ca.cert)
		if _, err := r.Verify(ca.cert); err != nil {
			return
		}
		for _, s := range r.Singles {
			if s.Status == Revoked && s.RevokedAt.IsZero() {
				t.Errorf("revoked at no time: %+v", s)
			}
		}
	})
}

// What is read as a request and written again asks the same.
func FuzzParseRequest(f *testing.F) {
	ca := certify(f, "CA", nil, isAuthority)
	for _, nonce := range [][]byte{nil, {1}, make([]byte, 32)} {
		der, err := NewRequest(ca.cert, ca.cert, crypto.SHA256, nonce).Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(der)
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		r, err := ParseRequest(der)
		if err != nil {
			return
		}
		der, err = r.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseRequest(der)
		if err != nil || len(again.IDs) != len(r.IDs) || !bytes.Equal(again.Nonce, r.Nonce) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}
