package xades_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// Phases in separate processes, with what lies between them stored, in each packing and encoding.
func TestPendingSurvivesEncoding(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for _, k := range packings {
		for _, content := range [][]byte{[]byte(contract), utf16("<a/>", true), utf16("<a/>", false)} {
			pending, err := xades.Prepare(t.Context(), document(content), p.signer, k.options())
			if err != nil {
				t.Fatal(err)
			}
			again := reread(t, pending)
			if diff := cmp.Diff(pending.Digest(), again.Digest()); diff != "" {
				t.Fatal(diff)
			}
			value, err := p.key.Sign(rand.Reader, again.Digest().Sum, crypto.SHA256)
			if err != nil {
				t.Fatal(err)
			}
			first, err := pending.Complete(t.Context(), value, nil)
			if err != nil {
				t.Fatal(err)
			}
			second, err := again.Complete(t.Context(), value, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Error(diff)
			}
			if got := verify(t, apply(t, content, second), p.ca); len(got) != 1 || !got[0].Passed() {
				t.Errorf("%s: %+v", k.name, got)
			}
		}
	}
}

// reread is a pending signature that was stored.
func reread(t testing.TB, p *xades.Pending) *xades.Pending {
	t.Helper()
	encoded, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again xades.Pending
	if err := again.UnmarshalBinary(encoded); err != nil {
		t.Fatal(err)
	}
	return &again
}

// What Prepare would not have made is not decoded, and leaves what was there.
func TestPendingRefused(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	pending, err := xades.Prepare(t.Context(), document([]byte(contract)), p.signer, xades.Options{Level: ades.T})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := pending.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"another version":     func(m map[string]any) { m["version"] = 2 },
		"no version":          func(m map[string]any) { delete(m, "version") },
		"level":               func(m map[string]any) { m["level"] = 9 },
		"hash":                func(m map[string]any) { m["hash"] = "MD5" },
		"scheme":              func(m map[string]any) { m["scheme"] = 1 },
		"certificate":         func(m map[string]any) { m["certificate"] = "AAAA" },
		"chain":               func(m map[string]any) { m["chain"] = []string{"AAAA"} },
		"encoding":            func(m map[string]any) { m["encoding"] = 3 },
		"text":                func(m map[string]any) { m["head"] = "<ds:Signature>" },
		"no SignedInfo":       func(m map[string]any) { m["head"], m["body"], m["foot"] = `<ds:Signature xmlns:ds="u:">`, "", "" },
		"piece from outside":  func(m map[string]any) { m["after"] = []any{map[string]any{"from": 1, "to": 1 << 20}} },
		"piece before":        func(m map[string]any) { m["after"] = []any{map[string]any{"from": -1, "to": 1}} },
		"piece backwards":     func(m map[string]any) { m["before"] = []any{map[string]any{"from": 3, "to": 1}} },
		"base of no document": func(m map[string]any) { m["base"] = -1 },
	} {
		var m map[string]any
		if err := json.Unmarshal(encoded, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		kept := *pending
		if err := kept.UnmarshalBinary(b); err == nil || !cmp.Equal(kept.Digest(), pending.Digest()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := new(xades.Pending).UnmarshalBinary(nil); err == nil {
		t.Error("nothing was decoded")
	}
}

func TestPendingTells(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	pending, err := xades.Prepare(t.Context(), document([]byte(contract)), p.signer, xades.Options{Level: ades.LTA})
	if err != nil {
		t.Fatal(err)
	}
	size, sum := pending.Base()
	want := crypto.SHA256.New()
	want.Write([]byte(contract))
	if size != int64(len(contract)) || !cmp.Equal(sum, want.Sum(nil)) {
		t.Errorf("base %d, %x", size, sum)
	}
	if pending.Level() != ades.LTA || !pending.Signer().Certificate.Equal(p.signer.Certificate) || pending.Signer().Algorithm.Scheme != ades.ECDSA {
		t.Errorf("level %v, signer %+v", pending.Level(), pending.Signer())
	}
}

func TestCompleteRefusesAnotherValue(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	for _, s := range schemes(t) {
		p := newPerson(t, ca, s.key, s.algorithm)
		pending, err := xades.Prepare(t.Context(), document([]byte(contract)), p.signer, xades.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := pending.Digest()
		value, err := s.key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
		if err != nil {
			t.Fatal(err)
		}
		d.Sum[0] ^= 1
		other, err := s.key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
		if err != nil {
			t.Fatal(err)
		}
		d.Sum[0] ^= 1
		for name, v := range map[string][]byte{"over something else": other, "empty": nil, "garbage": []byte("garbage"), "truncated": value[:len(value)-1]} {
			if _, err := pending.Complete(t.Context(), v, nil); !errors.Is(err, ades.ErrValue) {
				t.Errorf("%s, %s: %v", s.name, name, err)
			}
		}
		r, err := pending.Complete(t.Context(), value, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := verify(t, apply(t, []byte(contract), r), ca); !got[0].Intact || got[0].Algorithm != d.Algorithm {
			t.Errorf("%s: %+v", s.name, got)
		}
	}
}

// stamper is a timestamp authority that fails in its own way.
type stamper func(h crypto.Hash, sum []byte) ([]byte, error)

func (s stamper) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return s(h, sum)
}

// Without its timestamp nothing becomes of a signature for level T (EN 319 132-1 6.3), and its value stays
// good.
func TestCompleteNeedsTimestamp(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	pending, err := xades.Prepare(t.Context(), document([]byte(contract)), p.signer, xades.Options{Level: ades.T})
	if err != nil {
		t.Fatal(err)
	}
	right := p.ca.Sources(nil).Time
	for name, tt := range map[string]struct {
		t    ades.Timestamper
		want error
	}{
		"none":     {nil, ades.ErrTimestamp},
		"refuses":  {stamper(func(crypto.Hash, []byte) ([]byte, error) { return nil, ades.ErrUnavailable }), ades.ErrUnavailable},
		"no token": {stamper(func(crypto.Hash, []byte) ([]byte, error) { return []byte("token"), nil }), ades.ErrTimestamp},
		"over something else": {stamper(func(h crypto.Hash, sum []byte) ([]byte, error) {
			return right.Timestamp(t.Context(), h, append([]byte{^sum[0]}, sum[1:]...))
		}), ades.ErrTimestamp},
	} {
		if _, err := pending.Sign(t.Context(), p.key, tt.t); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	r, err := reread(t, pending).Sign(t.Context(), p.key, right)
	if err != nil {
		t.Fatal(err)
	}
	if got := verify(t, apply(t, []byte(contract), r), p.ca); len(got) != 1 || got[0].Format != "XAdES-BASELINE-T" || !got[0].Passed() {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pending.Sign(ctx, p.key, right); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A timestamp from after the end of the certificate proves nothing (EN 319 102-1 5.5.4).
func TestCompleteAfterExpiry(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPersonAt(t, ca, p256(t), time.Now().AddDate(-20, 0, 0))
	pending, err := xades.Prepare(t.Context(), document([]byte(contract)), p.signer, xades.Options{Level: ades.T, Time: p.signer.Certificate.NotAfter})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pending.Sign(t.Context(), p.key, ca.Sources(nil).Time); !errors.Is(err, ades.ErrOutsideValidity) {
		t.Error(err)
	}
}

// Errors are logged, and who signs is nobody's business there.
func TestErrorsNameNobody(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	secret := `<a><name>Jóna</name><kennitala>1203894569</a>`
	_, err := xades.Prepare(t.Context(), document([]byte(secret)), p.signer, xades.Options{})
	if err == nil || strings.Contains(err.Error(), "Jóna") || strings.Contains(err.Error(), "1203894569") {
		t.Error(err)
	}
}
