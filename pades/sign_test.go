package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// TestSignedDocumentVerifies compares the whole report on a signature, for each kind of key and of cross-reference.
func TestSignedDocumentVerifies(t *testing.T) {
	ca := catest.New(t)
	keys := map[string]crypto.Signer{
		"RSA-2048": certtest.NewRSAKey(t, 2048), "RSA-3072": certtest.NewRSAKey(t, 3072),
		"P-256": p256(t), "P-384": certtest.NewKey(t, elliptic.P384()), "P-521": certtest.NewKey(t, elliptic.P521()),
	}
	if !testing.Short() {
		keys["RSA-4096"] = certtest.NewRSAKey(t, 4096)
	}
	for name, key := range keys {
		for _, kind := range pdftest.Kinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				began := time.Now()
				p := newPerson(t, ca, key)
				at := p.signer.Certificate.NotBefore.UTC()
				signed := sign(t, pdftest.Build(pdftest.Options{Kind: kind}), p, pades.Options{
					Name: "Dæmi um nafn", Reason: "Undirritun", Location: "Reykjavík, Ísland", Time: at,
				})
				s := verifyPassed(t, signed, ca, "Signature1")[0]
				if !s.Certificate.Equal(p.signer.Certificate) || len(s.Chain) != 3 {
					t.Fatalf("certificate %v, chain of %d", s.Certificate.Subject, len(s.Chain))
				}
				want := ades.SignatureReport{
					Name: "Signature1", Format: "PAdES-BASELINE-B",
					Indication: ades.Indeterminate, SubIndication: ades.TryLater, Intact: true,
					Problems: s.Problems, Coverage: ades.WholeDocument, CoveredBytes: int64(len(signed)),
					Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm,
					Path: []ades.CertificateStatus{
						{Certificate: s.Chain[0], Revocation: ades.RevocationUnknown},
						{Certificate: s.Chain[1], Revocation: ades.RevocationUnknown},
						{Certificate: s.Chain[2], Revocation: ades.RevocationNotNeeded},
					},
					ClaimedTime: at, JudgedAt: s.JudgedAt,
					SignerName: "Dæmi um nafn", Reason: "Undirritun", Location: "Reykjavík, Ísland",
				}
				if diff := cmp.Diff(want, s); diff != "" {
					t.Error(diff)
				}
				if s.JudgedAt.Before(began) || s.JudgedAt.After(time.Now()) {
					t.Errorf("judged at %v", s.JudgedAt)
				}
			})
		}
	}
}

// TestSignedByPSS signs by RSASSA-PSS (RFC 4056) with every hash, alone and beside other algorithms.
func TestSignedByPSS(t *testing.T) {
	ca := catest.New(t)
	small, large := certtest.NewRSAKey(t, 2048), certtest.NewRSAKey(t, 3072)
	var cases []signedCase
	for name, signers := range map[string][]person{
		"RSA-2048 SHA-256": {newPersonWith(t, ca, small, pss(crypto.SHA256))},
		"RSA-3072 SHA-256": {newPersonWith(t, ca, large, pss(crypto.SHA256))},
		"RSA-3072 SHA-384": {newPersonWith(t, ca, large, pss(crypto.SHA384))},
		"RSA-3072 SHA-512": {newPersonWith(t, ca, large, pss(crypto.SHA512))},
		"mixed":            {newPersonWith(t, ca, large, pss(crypto.SHA256)), newPerson(t, ca, p256(t)), newPerson(t, ca, large)},
	} {
		b := pdftest.Build(pdftest.Options{Kind: pdftest.Kinds[len(signers)/2]})
		for _, p := range signers {
			b = sign(t, b, p, pades.Options{})
		}
		c := signedCase{name: name, b: b, fields: numbered(len(signers))}
		verifyPassed(t, b, ca, c.fields...)
		cases = append(cases, c)
	}
	checkForeign(t, ca, cases)
	t.Run("openssl", func(t *testing.T) {
		for _, c := range cases {
			signature, content := firstSignature(t, c.b)
			if err := validators.OpenSSLCMS(t, []*x509.Certificate{ca.Root()}, signature, content); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// firstSignature returns the Contents of the first signature of a document, and the bytes that its ByteRange names.
func firstSignature(t *testing.T, b []byte) (signature, content []byte) {
	t.Helper()
	r := byteRanges(b)[0]
	gap, gapEnd, rest := r[0], r[1], r[2]
	signature, err := hex.DecodeString(string(b[gap+1 : gapEnd-1]))
	if err != nil {
		t.Fatal(err)
	}
	return signature, slices.Concat(b[:gap], b[gapEnd:gapEnd+rest])
}

// startxref matches the end of a file.
var startxref = regexp.MustCompile(`startxref\n\d+\n%%EOF\n$`)

// twentyFiles returns a file of each kind that the signer writes differently, by a function because one needs qpdf.
// Each has a form with a field, and arrays that are indirect objects and therefore are written again by each signature.
func twentyFiles() map[string]func(*testing.T) []byte {
	build := func(kind pdftest.Kind) []byte {
		return pdftest.Build(pdftest.Options{
			Kind: kind, Pages: 3, Catalog: "/AcroForm 100 0 R", Page: "/Annots 102 0 R",
			Objects: []string{
				"<< /Fields [101 0 R] /DA (/Helv 0 Tf) >>",
				"<< /FT /Tx /T (Name) /V (kept) /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>",
				"[101 0 R]",
			},
		})
	}
	table := build(pdftest.Table)
	broken := startxref.ReplaceAll(table, []byte("startxref\n99999999\n%%EOF\n"))
	hybrid := build(pdftest.Hybrid)
	return map[string]func(*testing.T) []byte{
		"table":  func(*testing.T) []byte { return table },
		"stream": func(*testing.T) []byte { return build(pdftest.Stream) },
		"hybrid": func(t *testing.T) []byte {
			if bytes.Contains(hybrid, []byte("\n101 0 obj")) || !bytes.Contains(hybrid, []byte("/XRefStm ")) {
				t.Error("the field is not hidden from readers of tables")
			}
			return hybrid
		},
		"rebuilt": func(t *testing.T) []byte {
			if _, err := pdf.Open(bytes.NewReader(broken), int64(len(broken))); err == nil {
				t.Error("the cross-reference is not broken")
			}
			return broken
		},
		"bytes before the header": func(*testing.T) []byte { return slices.Concat([]byte("not of the file\r\n"), table) },
		"encrypted":               func(t *testing.T) []byte { return encrypt(t, table, "", "256") },
	}
}

// TestTwentySignatures signs files twenty times. Every signature stays valid, and the last adds little more to the
// file than the second: what grows with their number is a reference in each of two arrays.
func TestTwentySignatures(t *testing.T) {
	t.Parallel()
	const n = 20
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	var cases []signedCase
	for name, build := range twentyFiles() {
		t.Run(name, func(t *testing.T) {
			c := signedCase{name: name, b: build(t), fields: numbered(n)}
			var growth []int
			for range n {
				before := len(c.b)
				c.b = sign(t, c.b, p, pades.Options{Reason: "Undirritun"})
				growth = append(growth, len(c.b)-before)
			}
			t.Logf("figure: %s: bytes per signature %v", name, growth)
			if second, last := growth[1], growth[n-1]; 4*last > 5*second {
				t.Errorf("the last signature takes %d bytes, the second %d", last, second)
			}
			for i, s := range verifyPassed(t, c.b, ca, c.fields...) {
				if (s.Coverage == ades.WholeDocument) != (i == n-1) || s.Coverage == ades.Partial {
					t.Errorf("%s covers %s", s.Name, s.Coverage)
				}
			}
			cases = append(cases, c)
		})
	}
	var paths []string
	for i := range cases {
		cases[i].path = tempFile(t, "twenty.pdf", cases[i].b)
		if cases[i].name != "bytes before the header" { // pyHanko does not read such a file
			paths = append(paths, cases[i].path)
		}
	}
	t.Run("pdfsig", func(t *testing.T) {
		for _, c := range cases {
			c.checkPDFSig(t, nil)
		}
	})
	t.Run("pyHanko", func(t *testing.T) {
		for _, report := range validators.PyHanko(t, []*x509.Certificate{ca.Root()}, paths...) {
			if report.Error != "" || len(report.Signatures) != n {
				t.Errorf("%s: %d signatures, %s", report.File, len(report.Signatures), report.Error)
			}
			for k, s := range report.Signatures {
				want := "ENTIRE_REVISION"
				if k == n-1 {
					want = "ENTIRE_FILE"
				}
				if !s.BottomLine || !s.DocMDPOK || s.Coverage != want || s.ModificationLevel == "OTHER" {
					t.Errorf("%s: %+v", report.File, s)
				}
			}
		}
	})
}

// TestPendingSurvivesEncoding completes a pending signature and its copy that was stored.
func TestPendingSurvivesEncoding(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := pdftest.Build(pdftest.Options{})
	pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{Reason: "Undirritun"})
	if err != nil {
		t.Fatal(err)
	}
	again := restored(t, pending)
	if diff := cmp.Diff(pending.Digest(), again.Digest()); diff != "" {
		t.Fatal(diff)
	}
	value, err := p.key.Sign(rand.Reader, again.Digest().Sum, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	var revisions [2]pades.Revision
	for i, pending := range []*pades.Pending{pending, again} {
		if revisions[i], err = pending.Complete(t.Context(), value, nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(revisions[0], revisions[1], cmp.AllowUnexported(pades.Revision{})); diff != "" {
		t.Error(diff)
	}
	verifyPassed(t, append(b, revisions[1].Bytes...), p.ca, "Signature1")
	encoded, err := pending.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"", "{}", `{"version":2}`, strings.Replace(string(encoded), `"version":1`, `"version":9`, 1)} {
		if err := again.UnmarshalBinary([]byte(broken)); err == nil {
			t.Errorf("%.20q was decoded", broken)
		}
	}
}

// TestUsageRights reports usage rights of a document, also after the pending signature was stored.
func TestUsageRights(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for catalog, want := range map[string]bool{
		"":                               false,
		"/Perms << >>":                   false,
		"/Perms << /UR3 null >>":         false,
		"/Perms << /UR3 100 0 R >>":      true,
		"/Perms << /UR << /V /2.2 >> >>": true,
	} {
		b := pdftest.Build(pdftest.Options{Catalog: catalog, Objects: []string{"<< /Type /Sig >>"}})
		pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if again := restored(t, pending); pending.UsageRights() != want || again.UsageRights() != want {
			t.Errorf("%q: %t, decoded %t, want %t", catalog, pending.UsageRights(), again.UsageRights(), want)
		}
	}
}

// TestCompleteChecksTheValue completes stored signatures with values by another key, another scheme, or with another
// salt than the attributes name.
func TestCompleteChecksTheValue(t *testing.T) {
	ca := catest.New(t)
	key, byECDSA := certtest.NewRSAKey(t, 2048), newPerson(t, ca, p256(t))
	byPSS, byPKCS1 := newPersonWith(t, ca, key, pss(crypto.SHA256)), newPerson(t, ca, key)
	salt := func(n int) *rsa.PSSOptions { return &rsa.PSSOptions{SaltLength: n, Hash: crypto.SHA256} }
	doc := document(pdftest.Build(pdftest.Options{}))
	for name, row := range map[string]struct {
		person person
		key    crypto.Signer // nil: the value is not a signature
		opts   crypto.SignerOpts
		want   error
	}{
		"ECDSA":                     {byECDSA, byECDSA.key, crypto.SHA256, nil},
		"ECDSA by another key":      {byECDSA, p256(t), crypto.SHA256, ades.ErrValue},
		"PSS":                       {byPSS, key, salt(32), nil},
		"PSS by PKCS #1 v1.5":       {byPSS, key, crypto.SHA256, ades.ErrValue},
		"PSS with the longest salt": {byPSS, key, salt(rsa.PSSSaltLengthAuto), ades.ErrValue},
		"PKCS #1 v1.5 by PSS":       {byPKCS1, key, salt(32), ades.ErrValue},
		"empty":                     {byECDSA, nil, nil, ades.ErrValue},
	} {
		t.Run(name, func(t *testing.T) {
			pending, err := pades.Prepare(t.Context(), doc, row.person.signer, pades.Options{})
			if err != nil {
				t.Fatal(err)
			}
			pending = restored(t, pending)
			var value []byte
			if row.key != nil {
				if value, err = row.key.Sign(rand.Reader, pending.Digest().Sum, row.opts); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := pending.Complete(t.Context(), value, nil); !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
			if _, err := pending.Complete(t.Context(), []byte("garbage"), nil); !errors.Is(err, ades.ErrValue) {
				t.Errorf("garbage: got %v, want %v", err, ades.ErrValue)
			}
		})
	}
}

// TestMidstates prepares with the hash states that an earlier revision returned. They save reading the document again,
// and a state that does not fit the document is ignored.
func TestMidstates(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := pdftest.Build(pdftest.Options{Payload: 1 << 20})
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Level: ades.T}, p.ca.Sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, r.Bytes...)
	prepare := func(hashed ...pades.Midstate) (digest []byte, read int64) {
		source := &counted{ReaderAt: bytes.NewReader(b)}
		pending, err := pades.Prepare(t.Context(), pades.Document{ReaderAt: source, Size: int64(len(b)), Hashed: hashed}, p.signer, pades.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, digest = pending.Base()
		return digest, source.bytes.Load()
	}
	want, read := prepare()
	if read < int64(len(b)) {
		t.Fatalf("read %d of %d bytes without a state", read, len(b))
	}
	beyond, broken := r.Hashed[0], r.Hashed[0]
	beyond.Offset += 1000
	broken.State = broken.State[:10]
	for name, states := range map[string][]pades.Midstate{"right": r.Hashed, "beyond the end": {beyond}, "broken": {broken}} {
		got, read := prepare(states...)
		if !bytes.Equal(got, want) {
			t.Errorf("state %s: the digest differs", name)
		}
		if name == "right" && read > 256<<10 {
			t.Errorf("read %d bytes although there is a state", read)
		}
	}
	unavailable := r.Hashed[0]
	unavailable.Hash = crypto.MD4
	doc := pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Hashed: []pades.Midstate{unavailable}}
	if _, err := (pades.Extender{Sources: p.ca.Sources(nil)}).Extend(t.Context(), doc, ades.LT); err != nil {
		t.Errorf("state of a hash that is not available: %v", err)
	}
}

// TestPrepareRefuses has documents, certificates and algorithms that cannot be signed, or not be signed with.
func TestPrepareRefuses(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0")
	p := newPerson(t, catest.New(t), p256(t))
	weak := newPerson(t, p.ca, certtest.NewRSAKey(t, 1024)).signer
	sha1 := ades.SignerIdentity{Certificate: p.signer.Certificate, Algorithm: ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}}
	whole := pdftest.Build(pdftest.Options{})
	certified := pdftest.Options{
		Catalog: "/Perms << /DocMDP 100 0 R >>",
		Objects: []string{"<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << /P 1 >> >>] >>"},
	}
	repeating := pdftest.Options{
		Catalog: "/AcroForm << /Fields [" + strings.Repeat("<< /FT /Sig /T 100 0 R >> ", 10_000) + "] >>",
		Objects: []string{"(" + strings.Repeat("x", 1<<20) + ")"},
	}
	before, after := p.signer.Certificate.NotBefore.Add(-time.Second), p.signer.Certificate.NotAfter.Add(time.Second)
	for _, row := range []struct {
		name   string
		b      []byte
		signer ades.SignerIdentity
		want   error
	}{
		{"empty", nil, p.signer, ades.ErrUnreadable},
		{"not a PDF", []byte("PK\x03\x04"), p.signer, ades.ErrUnreadable},
		{"truncated", whole[:len(whole)/2], p.signer, ades.ErrUnreadable},
		{"no pages", bytes.Replace(whole, []byte("/Kids [10 0 R ]"), []byte("/Kids [       ]"), 1), p.signer, ades.ErrUnreadable},
		{"encrypted", pdftest.Build(pdftest.Options{Trailer: "/Encrypt 100 0 R", Objects: []string{"<< /Filter /Standard >>"}}), p.signer, pades.ErrEncrypted},
		{"certified against changes", pdftest.Build(certified), p.signer, ades.ErrForbidden},
		{"form that repeats a large object", pdftest.Build(repeating), p.signer, ades.ErrUnreadable},
		{"RSA-1024", whole, weak, ades.ErrAlgorithm},
		{"SHA-1", whole, sha1, ades.ErrAlgorithm},
	} {
		t.Run(row.name, func(t *testing.T) { checkPrepare(t, row.b, row.signer, pades.Options{}, row.want, "") })
	}
	for _, at := range []time.Time{before, after} { // EN 319 102-1 5.2.8
		if _, err := pades.Prepare(t.Context(), document(whole), p.signer, pades.Options{Time: at}); !errors.Is(err, ades.ErrOutsideValidity) {
			t.Errorf("signing time %v: got %v, want %v", at, err, ades.ErrOutsideValidity)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pades.Prepare(ctx, document(whole), p.signer, pades.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("context canceled: %v", err)
	}
}

// TestCheckLeavesToPrepare has what Check cannot know: the signer, and an appearance that is drawn later. Other tests
// compare the errors of both (see prepare). Check does not read the whole document.
func TestCheckLeavesToPrepare(t *testing.T) {
	for name, seed := range map[string]string{
		"hash":        "<< /Ff 64 /DigestMethod [/SHA512] >>",
		"certificate": "<< /Cert << /Ff 9 /Subject [(x)] /SubjectDN [<< /CN (Other) >>] >> >>",
	} {
		if err := pades.Check(t.Context(), document(seeded(seed)), pades.Options{Field: "Buyer"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := pdftest.Build(pdftest.Options{Payload: 8 << 20})
	source := &counted{ReaderAt: bytes.NewReader(whole)}
	doc := pades.Document{ReaderAt: source, Size: int64(len(whole))}
	undrawn := func(page int) *pades.Visible { return &pades.Visible{Page: page, Rect: at(page, 100, 100).Rect} }
	wrong := at(1, 100, 100)
	wrong.Appearance = []byte("GIF89a")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, row := range []struct {
		name string
		ctx  context.Context
		o    pades.Options
		want error
	}{
		{"no appearance yet", t.Context(), pades.Options{Visible: undrawn(1), Level: ades.LTA}, nil},
		{"no such page", t.Context(), pades.Options{Visible: undrawn(2)}, pades.ErrPage},
		{"an appearance that is not a PDF", t.Context(), pades.Options{Visible: wrong}, pades.ErrAppearance},
		{"context canceled", canceled, pades.Options{}, context.Canceled},
	} {
		if err := pades.Check(row.ctx, doc, row.o); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
	if read := source.bytes.Load(); read > int64(len(whole))/8 {
		t.Errorf("%d bytes read of %d", read, len(whole))
	}
}

// --- CMS of other software -------------------------------------------------------------

// cmsByPyHanko returns a whole CMS with a signing time, as a provider of CMS does.
func cmsByPyHanko(t *testing.T, p person, hash string, sum []byte) []byte {
	t.Helper()
	key, cert := writeKey(t, p)
	out := filepath.Join(t.TempDir(), "signature.der")
	python(t, nil, filepath.Join("testdata", "cms.py"), key, cert, writePEM(t, "CERTIFICATE", p.signer.Chain[0].Raw), hash, hex.EncodeToString(sum), out)
	der, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// signCMS signs by PrepareCMS, with the CMS that a provider returns for a digest.
func signCMS(t *testing.T, hash crypto.Hash, o pades.Options, provider func(sum []byte) []byte) []byte {
	t.Helper()
	b := pdftest.Build(pdftest.Options{})
	pending, err := pades.PrepareCMS(t.Context(), document(b), hash, o)
	if err != nil {
		t.Fatal(err)
	}
	pending = restored(t, pending)
	digest := pending.Digest()
	if digest.Algorithm != (ades.Algorithm{Hash: hash}) || pending.Signer().Certificate != nil {
		t.Errorf("%+v by %v", digest, pending.Signer().Certificate)
	}
	r, err := pending.Complete(t.Context(), provider(digest.Sum), nil)
	if err != nil {
		t.Fatal(err)
	}
	signed := append(bytes.Clone(b), r.Bytes...)
	if faults := pdflint.Check(b, signed); len(faults) != 1 || faults[0].Rule != pdflint.SubFilter {
		t.Errorf("faults besides the format that is not PAdES: %v", faults)
	}
	return signed
}

// TestCMSMadeElsewhere signs with a CMS of another program. The signature is valid, and is not PAdES (ISO 32000-2
// 12.8.3.3).
func TestCMSMadeElsewhere(t *testing.T) {
	ca := catest.New(t)
	var cases []signedCase
	for _, row := range []struct {
		name string
		hash crypto.Hash
		key  crypto.Signer
	}{
		{"sha256", crypto.SHA256, certtest.NewRSAKey(t, 2048)},
		{"sha512", crypto.SHA512, p256(t)},
	} {
		p := newPerson(t, ca, row.key)
		signed := signCMS(t, row.hash, pades.Options{Reason: "Undirritun"}, func(sum []byte) []byte { return cmsByPyHanko(t, p, row.name, sum) })
		if s := verify(t, signed, ca)[0]; s.Format != "PKCS7-B" || s.SubIndication != ades.TryLater || !s.Certificate.Equal(p.signer.Certificate) {
			t.Errorf("%+v", s)
		}
		cases = append(cases, signedCase{name: row.name, b: signed, fields: []string{"Signature1"}, format: "PKCS7-B"})
	}
	checkForeign(t, ca, cases)
}

// TestCompleteChecksTheCMS completes with a CMS over something else or with bytes that are not one, and then with the
// right one.
func TestCompleteChecksTheCMS(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	pending, err := pades.PrepareCMS(t.Context(), document(pdftest.Build(pdftest.Options{})), crypto.SHA256, pades.Options{})
	if err != nil {
		t.Fatal(err)
	}
	good := cmsByPyHanko(t, p, "sha256", pending.Digest().Sum)
	for _, row := range []struct {
		name string
		cms  []byte
		want error
	}{
		{"over something else", cmsByPyHanko(t, p, "sha256", make([]byte, 32)), ades.ErrValue},
		{"by another hash", cmsByPyHanko(t, p, "sha512", make([]byte, 64)), ades.ErrValue},
		{"another value", bytes.Replace(good, good[len(good)-8:], make([]byte, 8), 1), ades.ErrValue},
		{"cut off", good[:len(good)-1], ades.ErrValue},
		{"a bare value", []byte{0x30, 0x06, 2, 1, 1, 2, 1, 1}, ades.ErrValue},
		{"empty", nil, ades.ErrValue},
		{"right", good, nil},
	} {
		if _, err := pending.Complete(t.Context(), row.cms, nil); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, err, row.want)
		}
	}
}

// TestPrepareCMSRefuses has options that need a certificate, PAdES, or a timestamp in the signature.
func TestPrepareCMSRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		b       []byte
		hash    crypto.Hash
		options pades.Options
		want    error
	}{
		"weak hash":                         {nil, crypto.SHA1, pades.Options{}, ades.ErrAlgorithm},
		"field that requires a certificate": {seeded("<< /Type /SV /Cert << /Ff 1 /Subject [(x)] >> >>"), crypto.SHA256, pades.Options{Field: "Buyer"}, ades.ErrForbidden},
		"field that requires PAdES":         {seeded("<< /Type /SV /Ff 2 /SubFilter [/ETSI.CAdES.detached] >>"), crypto.SHA256, pades.Options{Field: "Buyer"}, ades.ErrForbidden},
		"field that requires a plain CMS":   {seeded("<< /Type /SV /Ff 2 /SubFilter [/adbe.pkcs7.detached] >>"), crypto.SHA256, pades.Options{Field: "Buyer"}, nil},
	} {
		if _, err := pades.PrepareCMS(t.Context(), document(row.b), row.hash, row.options); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", name, err, row.want)
		}
	}
	if _, err := pades.PrepareCMS(t.Context(), document(contract()), crypto.SHA256, pades.Options{Level: ades.T}); err == nil {
		t.Error("level T is accepted")
	}
}

// TestClaimedTimeOutsideValidity verifies a CMS whose signing time is outside of the validity of its certificate (EN
// 319 102-1 5.2.8), as EU DSS does.
func TestClaimedTimeOutsideValidity(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, certtest.NewRSAKey(t, 2048))
	for name, at := range map[string]time.Time{
		"too early": p.signer.Certificate.NotBefore.Add(-time.Second), "too late": p.signer.Certificate.NotAfter.Add(time.Second),
	} {
		signed := signCMS(t, crypto.SHA256, pades.Options{Time: at}, func(sum []byte) []byte { return cmsByPyHanko(t, p, "sha256", sum) })
		if s := verify(t, signed, ca)[0]; s.Indication != ades.Indeterminate || s.SubIndication != ades.SigConstraintsFailure {
			t.Errorf("%s: %s %s %q", name, s.Indication, s.SubIndication, s.Problems)
		}
		options := validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: true}
		if s := validators.DSS(t, options, tempFile(t, "claimed.pdf", signed))[0].Signatures[0]; s.SubIndication != string(ades.SigConstraintsFailure) {
			t.Errorf("%s: EU DSS reports %s %s", name, s.Indication, s.SubIndication)
		}
	}
}
