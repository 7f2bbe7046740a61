package pades_test

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// --- certification (ISO 32000-2 12.8.2.2 and 12.8.6) -------------------------------------

// TestCertify certifies documents with each permission. The catalog names the certification, and other signatures may
// follow unless no changes are permitted.
func TestCertify(t *testing.T) {
	ca := catest.New(t)
	var cases []signedCase
	for name, options := range map[string]pdftest.Options{
		"no permissions":       {},
		"permissions direct":   {Catalog: "/Perms << /UR3 100 0 R >>", Objects: []string{"<< /Type /Sig >>"}},
		"permissions indirect": {Catalog: "/Perms 101 0 R", Objects: []string{"<< /Type /Sig >>", "<< /UR3 100 0 R >>"}},
	} {
		for _, kind := range pdftest.Kinds {
			for _, p := range []pades.Permission{pades.NoChanges, pades.FormFilling, pades.Annotations} {
				c := signedCase{name: fmt.Sprintf("%s/%s/%d", name, kind, p), fields: []string{"Signature1"}}
				t.Run(c.name, func(t *testing.T) {
					options.Kind = kind
					c.b = sign(t, pdftest.Build(options), newPerson(t, ca, p256(t)), pades.Options{Certify: p})
					checkCertified(t, open(t, c.b), p, options.Catalog != "")
					if _, err := prepare(t, c.b, newPerson(t, ca, p256(t)).signer, pades.Options{}); (p == pades.NoChanges) != errors.Is(err, ades.ErrForbidden) {
						t.Errorf("a second signature: %v", err)
					}
					if p != pades.NoChanges {
						c.b = sign(t, c.b, newPerson(t, ca, p256(t)), pades.Options{})
						c.fields = numbered(2)
					}
					if options.Catalog == "" { // foreign programs do not accept these usage rights
						cases = append(cases, c)
					}
				})
			}
		}
	}
	checkForeign(t, ca, cases)
}

func checkCertified(t *testing.T, file *pdf.File, p pades.Permission, usageRights bool) {
	t.Helper()
	if permissions := dictAt(t, file, "Perms"); (permissions["UR3"] != nil) != usageRights {
		t.Errorf("permissions %v", permissions)
	}
	references, _ := file.Array(dictAt(t, file, "Perms", "DocMDP")["Reference"])
	if len(references) != 1 {
		t.Fatalf("references %v", references)
	}
	reference, _ := file.Dict(references[0])
	parameters, _ := file.Dict(reference["TransformParams"])
	if reference["TransformMethod"] != pdf.Name("DocMDP") || parameters["P"] != pdf.Integer(p) {
		t.Errorf("reference %v", reference)
	}
}

// TestCertificationComesFirst certifies documents that have a signature, a timestamp or a certification (ISO 32000-2
// 12.8.2.2.1).
func TestCertificationComesFirst(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	whole := pdftest.Build(pdftest.Options{})
	for name, b := range map[string][]byte{
		"signed":    sign(t, whole, p, pades.Options{}),
		"certified": sign(t, whole, p, pades.Options{Certify: pades.Annotations}),
		"timestamped": pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [100 0 R] >>",
			Objects: []string{"<< /FT /Sig /T (T) /V << /Type /DocTimeStamp /SubFilter /ETSI.RFC3161 >> >>"},
		}),
		"certification outside of the form": pdftest.Build(pdftest.Options{Catalog: "/Perms << /DocMDP << /Type /Sig >> >>"}),
	} {
		t.Run(name, func(t *testing.T) {
			checkPrepare(t, b, p.signer, pades.Options{Certify: pades.FormFilling}, ades.ErrForbidden, "has to be the first signature")
		})
	}
	for _, permission := range []pades.Permission{-1, 4} {
		if _, err := prepare(t, whole, p.signer, pades.Options{Certify: permission}); err == nil {
			t.Errorf("permission %d is accepted", permission)
		}
	}
}

// --- locks (ISO 32000-2 12.8.2.4 and table 236) ------------------------------------------

// lockedForm returns a document with the empty fields First, which has the lock, Second, and Group.Third.
func lockedForm(lock string) pdftest.Options {
	return pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R 101 0 R 102 0 R] >>",
		Objects: []string{
			"<< /FT /Sig /T (First) /Lock 104 0 R >>", "<< /FT /Sig /T (Second) >>", "<< /T (Group) /Kids [103 0 R] >>",
			"<< /FT /Sig /T (Third) /Parent 102 0 R >>", lock,
		},
	}
}

// TestLocks signs a field with a lock. The signature contains the lock, so that later signatures obey it even if the
// field loses it. permitted lists the fields that may be signed then; "" is a new field, which gets newName.
func TestLocks(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	tests := []struct {
		name, lock string
		permitted  []string
		newName    string
	}{
		{"All", "<< /Type /SigFieldLock /Action /All >>", nil, ""},
		{"Include", "<< /Action /Include /Fields [(Second)] >>", []string{"Group.Third", ""}, "Signature1"},
		{"Include a parent", "<< /Action /Include /Fields [(Group)] >>", []string{"Second", ""}, "Signature1"},
		{"Include names with the same beginning", "<< /Action /Include /Fields [(Sec) (Group.Thi) (Group.Third.x)] >>", []string{"Second", "Group.Third", ""}, "Signature1"},
		{"Include the next free name", "<< /Action /Include /Fields [(Signature1) <FEFF005300690067006E006100740075007200650032>] >>", []string{"Second", "Group.Third", ""}, "Signature3"},
		{"Include an empty list", "<< /Action /Include /Fields [] >>", []string{"Second", "Group.Third", ""}, "Signature1"},
		{"Include with items that are not names", "<< /Action /Include /Fields [42 null (Second)] >>", []string{"Group.Third", ""}, "Signature1"},
		{"Exclude", "<< /Action /Exclude /Fields [(Second)] >>", []string{"Second"}, ""},
		{"Exclude a parent", "<< /Action /Exclude /Fields [(Group)] >>", []string{"Group.Third"}, ""},
		{"P 1", "<< /Action /Include /Fields [] /P 1 >>", nil, ""},
		{"P 2", "<< /Action /Include /Fields [] /P 2 >>", []string{"Second", "Group.Third", ""}, "Signature1"},
		{"P 3", "<< /Action /Exclude /Fields [(Second)] /P 3 >>", []string{"Second"}, ""},
	}
	var cases []signedCase
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			signed := sign(t, pdftest.Build(lockedForm(tt.lock)), p, pades.Options{Field: "First"})
			first, err := open(t, signed).Dict(pdf.Ref{Num: 100})
			if err != nil {
				t.Fatal(err)
			}
			withoutLock := appendObjects(t, signed, map[int]string{100: fmt.Sprintf("<< /FT /Sig /T (First) /V %s >>", first["V"])})
			for _, b := range [][]byte{signed, withoutLock} {
				var got []string
				for _, field := range []string{"Second", "Group.Third", ""} {
					if _, err := prepare(t, b, p.signer, pades.Options{Field: field}); err == nil {
						got = append(got, field)
					} else if !errors.Is(err, ades.ErrForbidden) {
						t.Errorf("%q: %v", field, err)
					}
				}
				if !slices.Equal(got, tt.permitted) {
					t.Errorf("fields that may be signed: got %q, want %q", got, tt.permitted)
				}
			}
			c := signedCase{name: tt.name, b: signed, fields: []string{"First"}}
			for _, field := range tt.permitted {
				c.b = sign(t, c.b, newPerson(t, ca, p256(t)), pades.Options{Field: field})
				if field == "" {
					field = tt.newName
				}
				c.fields = append(c.fields, field)
			}
			verifyPassed(t, c.b, ca, c.fields...)
			cases = append(cases, c)
		})
	}
	checkForeign(t, ca, cases)
}

// TestUnknownLock signs a field whose lock the signer does not understand.
func TestUnknownLock(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for lock, want := range map[string]error{
		"<< /Action /Some >>":                     ades.ErrForbidden,
		"<< /Action /All /P 4 >>":                 ades.ErrForbidden,
		"<< /Action /All /P -1 >>":                ades.ErrForbidden,
		"<< /Action (All) >>":                     ades.ErrUnreadable,
		"<< /Action /Include /Fields (Second) >>": ades.ErrUnreadable,
		"[/All]": ades.ErrUnreadable,
		"<< >>":  nil,
		"null":   nil,
	} {
		t.Run(lock, func(t *testing.T) {
			checkPrepare(t, pdftest.Build(lockedForm(lock)), p.signer, pades.Options{Field: "First"}, want, "")
		})
	}
}

// TestTransformsOfEarlierSignatures signs after a signature whose transforms forbid it or cannot be read.
func TestTransformsOfEarlierSignatures(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for reference, want := range map[string]error{
		"42":     ades.ErrUnreadable,
		"[42]":   ades.ErrUnreadable,
		"[null]": ades.ErrBroken, // a reference that forbids nothing, in a signature without ByteRange
		"[<< /TransformMethod /FieldMDP /TransformParams << /Action /All /P 1 >> >>]": ades.ErrForbidden,
		"[<< /TransformParams << /Action /Frobnicate >> >>]":                          ades.ErrForbidden,
		"[<< /TransformParams << /Action /All /Fields [102 0 R] >> >>]":               ades.ErrForbidden,
		"[<< /TransformParams << /P (1) >> >>]":                                       ades.ErrUnreadable,
		"102 0 R":                                                                     ades.ErrUnreadable,
	} {
		b := pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [100 0 R] >>",
			Objects: []string{"<< /FT /Sig /T (A) /V 101 0 R >>", "<< /Type /Sig /Reference " + reference + " >>", "<< /Circle 102 0 R >>"},
		})
		t.Run(reference, func(t *testing.T) { checkPrepare(t, b, p.signer, pades.Options{}, want, "") })
	}
}

// TestPrepareObeysEarlierSignatures signs after a signature whose field got a lock later, and after broken ones (spec
// 3.10).
func TestPrepareObeysEarlierSignatures(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	signed := sign(t, pdftest.Build(pdftest.Options{}), p, pades.Options{})
	number, body := signatureObject(t, signed)
	locked := fmt.Sprintf("<< /FT /Sig /T (Signature1) /V %d 0 R /Lock << /Type /SigFieldLock /Action /All /P 1 >> >>", number)
	r, array := byteRanges(signed)[0], byteRangeOf.Find(signed)
	short := fmt.Appendf(nil, "%-*s", len(array), fmt.Sprintf("/ByteRange [0 %d %d %d]", r[0], r[1], r[2]-10))
	for name, row := range map[string]struct {
		b    []byte
		want error
	}{
		"lock of the field":                          {appendObjects(t, signed, map[int]string{number + 1: locked}), ades.ErrForbidden},
		"signature dictionary written again":         {appendObjects(t, signed, map[int]string{number: body}), ades.ErrBroken},
		"signature that does not cover its revision": {bytes.Replace(signed, array, short, 1), ades.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) { checkPrepare(t, row.b, p.signer, pades.Options{}, row.want, "") })
	}
}

// --- seed values (ISO 32000-2 12.7.5.5, tables 237 and 238) -------------------------------

// seeded returns a document with the empty field Buyer that has the seed value.
func seeded(seed string) []byte {
	return pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Objects: []string{"<< /FT /Sig /T (Buyer) /SV 101 0 R /Lock 102 0 R >>", seed, "<< /Action /Include /Fields [] /P 2 >>"},
	})
}

// checkSeed signs the field Buyer. It fails the test unless the seed value forbids this with the error want; "" is for
// a seed value that permits it.
func checkSeed(t *testing.T, b []byte, signer ades.SignerIdentity, o pades.Options, want string) {
	t.Helper()
	o.Field = "Buyer"
	var forbidden error
	if want != "" {
		forbidden = ades.ErrForbidden
	}
	checkPrepare(t, b, signer, o, forbidden, want)
}

// TestSeedValue has entries of a seed value and options that obey them or not. If the entry has a bit in Ff, each row
// is tried with the bit set, and without it, which makes the entry a recommendation.
func TestSeedValue(t *testing.T) {
	tests := []struct {
		bit     int // of Ff; 0: the entry has none
		entry   string
		options pades.Options
		want    string // of the error; "": permitted
	}{
		{1, "/Filter /Adobe.PPKLite", pades.Options{}, ""},
		{1, "", pades.Options{}, ""},
		{1, "/Filter /Entrust.PPKEF", pades.Options{}, `Filter: the handler is "Entrust.PPKEF"`},
		{2, "/SubFilter [/adbe.pkcs7.detached /ETSI.CAdES.detached]", pades.Options{}, ""},
		{2, "/SubFilter /ETSI.CAdES.detached", pades.Options{}, ""},
		{2, "/SubFilter [/adbe.pkcs7.detached]", pades.Options{}, "SubFilter: "},
		{2, "/SubFilter []", pades.Options{}, "SubFilter: "},
		{3, "/V 3.0", pades.Options{}, ""},
		{3, "/V 4", pades.Options{}, "V: the seed value is of a later version"},
		{4, "/Reasons [(Agreed) <FEFF00C100F0>]", pades.Options{Reason: "Áð"}, ""},
		{4, "/Reasons [(Agreed)]", pades.Options{Reason: "Read"}, `Reasons: the reason "Read" is not among those listed, of which the first is "Agreed"`},
		{4, "/Reasons [(Agreed)]", pades.Options{}, "Reasons: "},
		{4, "/Reasons [(.)]", pades.Options{}, ""},
		{4, "/Reasons [(.)]", pades.Options{Reason: "."}, "Reasons: no reason may be given"},
		{4, "/Reasons [(.) (Agreed)]", pades.Options{Reason: "."}, ""},
		{4, "/Reasons []", pades.Options{Reason: "Read"}, "Reasons: no reason may be given"},
		{4, "", pades.Options{Reason: "Read"}, "Reasons: no reason may be given"},
		{5, "/LegalAttestation [(None)]", pades.Options{}, "LegalAttestation: "},
		{5, "", pades.Options{}, ""},
		{6, "/AddRevInfo true", pades.Options{}, "AddRevInfo: "},
		{6, "/AddRevInfo false", pades.Options{}, ""},
		{7, "/DigestMethod [/SHA1 /SHA256]", pades.Options{}, ""},
		{7, "/DigestMethod [(sha-256)]", pades.Options{}, ""},
		{7, "/DigestMethod [/SHA1 /SHA512]", pades.Options{}, "DigestMethod: SHA-256 is not among those listed"},
		{8, "/LockDocument /true", pades.Options{}, "LockDocument: nothing locks the document"},
		{8, "/LockDocument true", pades.Options{Certify: pades.NoChanges}, ""},
		{8, "/LockDocument /false", pades.Options{Certify: pades.NoChanges}, "LockDocument: the document would be locked"},
		{8, "/LockDocument /false", pades.Options{}, ""},
		{8, "/LockDocument /auto", pades.Options{}, ""},
		{9, "/AppearanceFilter (Notary)", pades.Options{}, "AppearanceFilter: "},
		{10, "", pades.Options{}, "Ff: it has unknown flags"},
		{0, "/MDP << /P 0 >>", pades.Options{}, ""},
		{0, "/MDP << >>", pades.Options{Certify: pades.FormFilling}, ""},
		{0, "/MDP << /P 0 >>", pades.Options{Certify: pades.FormFilling}, "MDP: P must be 0, but the signature would have 2"},
		{0, "/MDP << /P 2 >>", pades.Options{Certify: pades.FormFilling}, ""},
		{0, "/MDP << /P 2 >>", pades.Options{Certify: pades.Annotations}, "MDP: P must be 2"},
		{0, "/MDP << /P 2 >>", pades.Options{}, "MDP: P must be 2"},
		{0, "/TimeStamp << /URL (http://tsa.example) /Ff 1 >>", pades.Options{}, "TimeStamp: "},
		{0, "/TimeStamp << /URL (http://tsa.example) /Ff 0 >>", pades.Options{}, ""},
	}
	p := newPerson(t, catest.New(t), p256(t))
	for _, tt := range tests {
		flags := 1 << tt.bit >> 1
		t.Run(fmt.Sprintf("%d %s %s", flags, tt.entry, tt.options.Reason), func(t *testing.T) {
			checkSeed(t, seeded(fmt.Sprintf("<< /Type /SV /Ff %d %s >>", flags, tt.entry)), p.signer, tt.options, tt.want)
			if tt.bit > 0 {
				checkSeed(t, seeded("<< "+tt.entry+" >>"), p.signer, tt.options, "")
			}
		})
	}
}

// TestCertificateSeedValue does the same for the constraints on the certificate. Certificates of the test authority
// have the key usage nonRepudiation alone, and the policies of a qualified certificate.
func TestCertificateSeedValue(t *testing.T) {
	ca, other := catest.New(t), catest.New(t)
	p := newPerson(t, ca, p256(t))
	der := func(raw []byte) string { return "<" + hex.EncodeToString(raw) + ">" }
	signer, issuer, root := der(p.signer.Certificate.Raw), der(p.signer.Chain[0].Raw), der(ca.Root().Raw)
	policy := p.signer.Certificate.Policies[0].String()
	tests := []struct {
		bit   int
		entry string
		want  string
	}{
		{1, "/Subject [" + der(other.Root().Raw) + signer + "]", ""},
		{1, "/Subject [" + issuer + "]", "Cert/Subject: "},
		{1, "/Subject [(no certificate)]", "Cert/Subject: "},
		{1, "/Subject []", "Cert/Subject: "},
		{1, "", ""},
		{2, "/Issuer [" + issuer + "]", ""},
		{2, "/Issuer [" + der(other.Root().Raw) + root + "]", ""},
		{2, "/Issuer [" + der(other.Root().Raw) + "]", "Cert/Issuer: "}, // of the same name as ours
		{2, "/Issuer [" + signer + "]", "Cert/Issuer: "},
		{3, "/Issuer [" + issuer + "] /OID [(" + policy + ")]", ""},
		{3, "/Issuer [" + issuer + "] /OID [(" + policy + ") (1.2.3)]", `Cert/OID: the signer's certificate is not of the policy "1.2.3"`},
		{3, "/OID [(1.2.3)]", ""}, // it goes with Issuer only
		{4, "/SubjectDN [<< /cn (D\\346mi um nafn) >> << /2.5.4.5 (1203894569) >>]", ""},
		{4, "/SubjectDN [<< /CN (D\\346mi um nafn) /c (NO) >>]", `Cert/SubjectDN: the signer's name lacks the required "c"`},
		{4, "/SubjectDN [<< /frobnication (x) >>]", "Cert/SubjectDN: "},
		{5, "", "Cert/Ff: it has unknown flags"},
		{6, "/KeyUsage [(01)]", ""},
		{6, "/KeyUsage [(1) (X1XXXXXXX1)]", ""},
		{6, "/KeyUsage [(1XXXXXXXX)]", "Cert/KeyUsage: "},
		{6, "/KeyUsage [(X0)]", "Cert/KeyUsage: "},
		{6, "/KeyUsage []", "Cert/KeyUsage: "},
		{7, "/URL (http://enrol.example)", ""},
		{7, "/URL (http://enrol.example) /URLType /Browser", ""},
		{7, "/URL (http://sign.example) /URLType /ASSP", `Cert/URL: the signer's credential has to come from a server of type "ASSP"`},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d %.40s", tt.bit, tt.entry), func(t *testing.T) {
			checkSeed(t, seeded(fmt.Sprintf("<< /Cert << /Ff %d %s >> >>", 1<<(tt.bit-1), tt.entry)), p.signer, pades.Options{}, tt.want)
			checkSeed(t, seeded(fmt.Sprintf("<< /Cert << %s >> >>", tt.entry)), p.signer, pades.Options{}, "")
		})
	}
}

// TestMalformedSeedValue has seed values with entries of the wrong type.
func TestMalformedSeedValue(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, seed := range []string{
		"42", "<< /Ff (1) >>", "<< /Ff 2 /SubFilter 42 >>", "<< /Ff 8 /Reasons [42] >>", "<< /MDP /P >>", "<< /TimeStamp 1 >>",
		"<< /Cert 1 >>", "<< /Cert << /Ff 8 /SubjectDN [1] >> >>", "<< /Cert << /Ff 1 /Subject [" + strings.Repeat("()", 65) + "] >> >>",
		"<< /Ff 2 /SubFilter 101 0 R >>",
	} {
		t.Run(seed, func(t *testing.T) {
			checkPrepare(t, seeded(seed), p.signer, pades.Options{Field: "Buyer"}, ades.ErrUnreadable, "")
		})
	}
}

// TestForeignSeedValue obeys seed values that pyHanko wrote. pyHanko's validator accepts the signatures.
func TestForeignSeedValue(t *testing.T) {
	ca := catest.New(t)
	p := newPerson(t, ca, certtest.NewRSAKey(t, 2048))
	signer, issuer := writePEM(t, "CERTIFICATE", p.signer.Certificate.Raw), writePEM(t, "CERTIFICATE", p.signer.Chain[0].Raw)
	var cases []signedCase
	for name, row := range map[string]struct {
		seed    pyHankoSeed
		options pades.Options
	}{
		"all entries": {pyHankoSeed{
			"flags": 1 | 2 | 4 | 8 | 64 | 128, "subFilters": []string{"ETSI.CAdES.detached"}, "digests": []string{"sha256", "sha512"},
			"reasons": []string{"Samþykkt", "Agreed"}, "mdp": 0, "lockDocument": "false",
			"certificate": map[string]any{
				"flags": 1 | 2 | 8 | 32, "subject": signer, "issuers": []string{issuer}, "keyUsage": "01",
				"name": map[string]string{"common_name": "Dæmi um nafn", "country_name": "IS"},
			},
		}, pades.Options{Field: "Buyer", Reason: "Samþykkt"}},
		"certification": {pyHankoSeed{"flags": 0, "mdp": 2}, pades.Options{Field: "Buyer", Certify: pades.FormFilling}},
		"no reason":     {pyHankoSeed{"flags": 8, "reasons": []string{"."}}, pades.Options{Field: "Buyer"}},
	} {
		b := addPyHankoFields(t, pdftest.Build(pdftest.Options{}), pyHankoField{Name: "Buyer", Box: []int{10, 10, 110, 60}, Seed: row.seed})
		cases = append(cases, signedCase{name: name, b: sign(t, b, p, row.options), fields: []string{"Buyer"}})
	}
	checkForeign(t, ca, cases)
}

// TestSeedValueOfAnotherHash signs by the hash that the seed value requires, which is not the default of the key.
func TestSeedValueOfAnotherHash(t *testing.T) {
	ca := catest.New(t)
	p := newPersonWith(t, ca, certtest.NewRSAKey(t, 2048), ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15})
	verifyPassed(t, sign(t, seeded("<< /Ff 64 /DigestMethod [/SHA512] >>"), p, pades.Options{Field: "Buyer"}), ca, "Buyer")
}
