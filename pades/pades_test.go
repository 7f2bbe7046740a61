package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// person is a key with a certificate of a test authority.
type person struct {
	signer ades.Signer
	key    crypto.Signer
	ca     *sandboxca.Authority
}

func newPerson(t testing.TB, ca *sandboxca.Authority, key crypto.Signer) person {
	t.Helper()
	cert, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return person{ades.Signer{Certificate: cert, Chain: ca.Chain()}, key, ca}
}

func newAuthority(t testing.TB) *sandboxca.Authority {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func p256(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(t testing.TB, bits int) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func document(b []byte) pades.Document {
	return pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

// sign signs and appends, and checks that the increment harms nothing.
func sign(t testing.TB, b []byte, p person, o pades.Options) []byte {
	t.Helper()
	if err := pades.Check(t.Context(), document(b), o); err != nil {
		t.Errorf("checked: %v", err)
	}
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, o, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Base != int64(len(b)) {
		t.Fatalf("revision at %d of a document of %d bytes", r.Base, len(b))
	}
	signed := append(bytes.Clone(b), r.Bytes...)
	for _, fault := range pdflint.CheckAt(placeOf(o), b, signed) {
		t.Error(fault)
	}
	return signed
}

// placeOf is where a new field is to be.
func placeOf(o pades.Options) pdflint.Place {
	if o.Visible == nil {
		return pdflint.Place{Page: 1}
	}
	return pdflint.Place{Page: o.Visible.Page, Rect: pdf.Rect(o.Visible.Rect)}
}

// verify reports on a document to which nothing happened that its signatures do not permit.
func verify(t testing.TB, b []byte, ca *sandboxca.Authority) []ades.SignatureReport {
	t.Helper()
	signatures := verifyAny(t, b, ca)
	for _, s := range signatures {
		if forbidden := s.Forbidden(); len(forbidden) > 0 {
			t.Errorf("%s does not permit %+v", s.Name, forbidden)
		}
	}
	return signatures
}

// verifyAny reports on a document, whatever happened to it.
func verifyAny(t testing.TB, b []byte, ca *sandboxca.Authority) []ades.SignatureReport {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	return report.Signatures
}

func TestSignedDocumentVerifies(t *testing.T) {
	ca := newAuthority(t)
	keys := map[string]crypto.Signer{"RSA-2048": rsaKey(t, 2048), "RSA-3072": rsaKey(t, 3072), "P-256": p256(t)}
	for _, curve := range []elliptic.Curve{elliptic.P384(), elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		keys[curve.Params().Name] = key
	}
	if !testing.Short() {
		keys["RSA-4096"] = rsaKey(t, 4096)
	}
	for name, key := range keys {
		for _, kind := range pdftest.Kinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				began := time.Now()
				p := newPerson(t, ca, key)
				at := p.signer.Certificate.NotBefore.UTC()
				signed := sign(t, pdftest.Build(pdftest.Options{Kind: kind}), p, pades.Options{
					Name: "Dæmi um nafn", Reason: "Undirritun", Location: "Reykjavík, Ísland",
					Time: at,
				})
				got := verify(t, signed, ca)
				if len(got) != 1 || len(got[0].Chain) == 0 {
					t.Fatalf("%+v", got)
				}
				s := got[0]
				path := make([]ades.CertificateStatus, len(s.Chain))
				for i, c := range s.Chain {
					path[i] = ades.CertificateStatus{Certificate: c, Revocation: ades.RevocationUnknown}
				}
				path[len(path)-1].Revocation = ades.RevocationNotNeeded
				want := ades.SignatureReport{
					Name: "Signature1", Format: "PAdES-BASELINE-B",
					Indication: ades.Indeterminate, SubIndication: ades.TryLater, Intact: true,
					Problems: s.Problems, Coverage: ades.WholeDocument, CoveredBytes: int64(len(signed)),
					Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm,
					Path: path, ClaimedTime: at, JudgedAt: s.JudgedAt,
					SignerName: "Dæmi um nafn", Reason: "Undirritun", Location: "Reykjavík, Ísland",
				}
				if diff := cmp.Diff(want, s); diff != "" {
					t.Error(diff)
				}
				if s.JudgedAt.Before(began) || s.JudgedAt.After(time.Now()) {
					t.Errorf("judged at %v", s.JudgedAt)
				}
				if !s.Certificate.Equal(p.signer.Certificate) || len(s.Chain) != 3 || !s.Passed() {
					t.Errorf("certificate or chain wrong: %v", s.Problems)
				}
			})
		}
	}
}

func TestSignaturesOneAfterAnother(t *testing.T) {
	ca := newAuthority(t)
	for _, kind := range pdftest.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			b := pdftest.Build(pdftest.Options{Kind: kind, Pages: 3})
			const n = 5
			for range n {
				b = sign(t, b, newPerson(t, ca, p256(t)), pades.Options{})
			}
			got := verify(t, b, ca)
			if len(got) != n {
				t.Fatalf("%d signatures, want %d", len(got), n)
			}
			for i, s := range got {
				coverage := ades.WholeRevision
				if i == n-1 {
					coverage = ades.WholeDocument
				}
				if s.Coverage != coverage || !s.Passed() {
					t.Errorf("%s: %s, %s: %v", s.Name, s.Coverage, s.Indication, s.Problems)
				}
			}
		})
	}
}

// Phases in separate processes, with what lies between them stored.
func TestPendingSurvivesEncoding(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := pdftest.Build(pdftest.Options{})
	pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{Reason: "Undirritun"})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := pending.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again pades.Pending
	if err := again.UnmarshalBinary(encoded); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pending.Digest(), again.Digest()); diff != "" {
		t.Fatal(diff)
	}
	digest := again.Digest()
	value, err := p.key.Sign(rand.Reader, digest.Sum, digest.Algorithm.Hash)
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
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(pades.Revision{})); diff != "" {
		t.Error(diff)
	}
	if got := verify(t, append(b, second.Bytes...), p.ca); len(got) != 1 || !got[0].Passed() {
		t.Errorf("%+v", got)
	}
	for _, broken := range []string{"", "{}", `{"version":2}`, strings.Replace(string(encoded), `"version":1`, `"version":9`, 1)} {
		if err := again.UnmarshalBinary([]byte(broken)); err == nil {
			t.Errorf("%.20q was decoded", broken)
		}
	}
}

func TestCompleteRefusesAnotherValue(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	pending, err := pades.Prepare(t.Context(), document(pdftest.Build(pdftest.Options{})), p.signer, pades.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value, err := p256(t).Sign(rand.Reader, pending.Digest().Sum, crypto.SHA256) // somebody else's key
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string][]byte{"another key's": value, "empty": nil, "garbage": []byte("garbage")} {
		if _, err := pending.Complete(t.Context(), v, nil); !errors.Is(err, ades.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The hash states that a revision returns save reading the document again, and a
// state that does not fit is not believed.
func TestMidstates(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := pdftest.Build(pdftest.Options{Payload: 1 << 20})
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{}, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, r.Bytes...)
	counter := &countingReader{Reader: bytes.NewReader(b)}
	prepare := func(hashed []pades.Midstate) *pades.Pending {
		pending, err := pades.Prepare(t.Context(), pades.Document{ReaderAt: counter, Size: int64(len(b)), Hashed: hashed}, p.signer, pades.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return pending
	}
	_, want := prepare(nil).Base()
	if counter.n < len(b) {
		t.Fatalf("read %d of %d bytes without a state", counter.n, len(b))
	}
	counter.n = 0
	if _, got := prepare(r.Hashed).Base(); !bytes.Equal(got, want) {
		t.Error("digest from the state differs")
	}
	if counter.n > 256<<10 {
		t.Errorf("read %d bytes with the state at hand", counter.n)
	}
	beyond, broken := r.Hashed[0], r.Hashed[0]
	beyond.Offset += 1000
	broken.State = broken.State[:10]
	for name, m := range map[string]pades.Midstate{"beyond the end": beyond, "broken": broken} {
		if _, got := prepare([]pades.Midstate{m}).Base(); !bytes.Equal(got, want) {
			t.Errorf("state %s: digest differs", name)
		}
	}
}

type countingReader struct {
	*bytes.Reader
	n int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += n
	return n, err
}

func TestExistingFormStaysIntact(t *testing.T) {
	ca := newAuthority(t)
	const field = "<< /FT /Tx /T (Signature1) /V (kept) /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>"
	tests := map[string]pdftest.Options{
		"form and arrays direct":   {Catalog: "/AcroForm << /DA (/Helv 0 Tf) /Fields [100 0 R] /NeedAppearances false >>", Page: "/Annots [100 0 R]", Objects: []string{field}},
		"form indirect":            {Catalog: "/AcroForm 101 0 R", Page: "/Annots [100 0 R]", Objects: []string{field, "<< /Fields [100 0 R] /DA (/Helv 0 Tf) /SigFlags 1 >>"}},
		"arrays indirect":          {Catalog: "/AcroForm 101 0 R", Page: "/Annots 102 0 R", Objects: []string{field, "<< /Fields 103 0 R /DA (/Helv 0 Tf) >>", "[100 0 R]", "[100 0 R]"}},
		"array within direct form": {Catalog: "/AcroForm << /Fields 101 0 R /DA (/Helv 0 Tf) >>", Page: "/Annots [100 0 R]", Objects: []string{field, "[ 100 0 R % a comment\n ]"}},
		"signatures noted already": {Catalog: "/AcroForm 101 0 R", Page: "/Annots 102 0 R", Objects: []string{field, "<< /Fields 103 0 R /SigFlags 3 /DA (/Helv 0 Tf) >>", "[100 0 R]", "[100 0 R]"}},
	}
	for name, options := range tests {
		for _, kind := range pdftest.Kinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				options.Kind = kind
				signed := sign(t, pdftest.Build(options), newPerson(t, ca, p256(t)), pades.Options{})
				if got := verify(t, signed, ca); len(got) != 1 || got[0].Name != "Signature2" || !got[0].Passed() {
					t.Errorf("%+v", got)
				}
				checkForm(t, signed)
			})
		}
	}
}

func checkForm(t *testing.T, b []byte) {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		t.Fatal(err)
	}
	fields, _ := file.Array(form["Fields"])
	flags, _ := file.Int(form["SigFlags"])
	page, err := file.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	annotations, _ := file.Array(page.Dict["Annots"])
	if len(fields) != 2 || len(annotations) != 2 || flags != 3 {
		t.Errorf("%d fields, %d annotations, flags %d", len(fields), len(annotations), flags)
	}
	if da, _ := file.Bytes(form["DA"]); string(da) != "/Helv 0 Tf" {
		t.Errorf("the form's DA is %q", da)
	}
	if kept, err := file.Dict(fields[0]); err != nil || kept["V"] != pdf.String("kept") {
		t.Errorf("the field that was there: %v, %v", kept, err)
	}
}

func TestPrepareRefuses(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	weak := newPerson(t, p.ca, mustKey(t))
	whole := pdftest.Build(pdftest.Options{})
	certified := pdftest.Options{
		Catalog: "/Perms << /DocMDP 100 0 R >>",
		Objects: []string{"<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << /P 1 >> >>] >>"},
	}
	tests := []struct {
		name   string
		b      []byte
		signer ades.Signer
		want   error
	}{
		{"empty", nil, p.signer, ades.ErrUnreadable},
		{"not a PDF", []byte("PK\x03\x04"), p.signer, ades.ErrUnreadable},
		{"truncated", whole[:len(whole)/2], p.signer, ades.ErrUnreadable},
		{"no pages", bytes.Replace(whole, []byte("/Kids [10 0 R ]"), []byte("/Kids [       ]"), 1), p.signer, ades.ErrUnreadable},
		{"encrypted", pdftest.Build(pdftest.Options{Trailer: "/Encrypt 100 0 R", Objects: []string{"<< /Filter /Standard >>"}}), p.signer, pades.ErrEncrypted},
		{"certified against changes", pdftest.Build(certified), p.signer, ades.ErrForbidden},
		{"RSA-1024", whole, weak.signer, ades.ErrAlgorithm},
		{"SHA-1", whole, ades.Signer{Certificate: p.signer.Certificate, Algorithm: ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}}, ades.ErrAlgorithm},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := prepare(t, tt.b, tt.signer, pades.Options{})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("context ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := pades.Prepare(ctx, document(whole), p.signer, pades.Options{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func mustKey(t *testing.T) crypto.Signer {
	t.Setenv("GODEBUG", "rsa1024min=0")
	return rsaKey(t, 1024)
}
