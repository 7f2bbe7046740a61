package pades_test

import (
	"crypto"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

func seeded(seed string) []byte {
	return pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Objects: []string{"<< /FT /Sig /T (Buyer) /SV 101 0 R /Lock 102 0 R >>", seed, "<< /Action /Include /Fields [] /P 2 >>"},
	})
}

// Table 237: a seed value and the signature, and what is said if it rules that out. The
// bit of the entry is set in each, and clear in a second round, in which entries with a
// bit rule out nothing.
func TestSeedValue(t *testing.T) {
	tests := []struct {
		bit     int // of Ff; 0: the entry has none
		entry   string
		options pades.Options
		says    string // "": permitted
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
		{0, "/MDP << /P 0 >>", pades.Options{Certify: pades.FormFilling}, "MDP: P is 0, and of the signature it would be 2"},
		{0, "/MDP << /P 2 >>", pades.Options{Certify: pades.FormFilling}, ""},
		{0, "/MDP << /P 2 >>", pades.Options{Certify: pades.Annotations}, "MDP: P is 2"},
		{0, "/MDP << /P 2 >>", pades.Options{}, "MDP: P is 2"},
		{0, "/TimeStamp << /URL (http://tsa.example) /Ff 1 >>", pades.Options{}, "TimeStamp: "},
		{0, "/TimeStamp << /URL (http://tsa.example) /Ff 0 >>", pades.Options{}, ""},
	}
	p := newPerson(t, newAuthority(t), p256(t))
	for _, tt := range tests {
		tt.options.Field = "Buyer"
		flags := 1 << tt.bit >> 1
		t.Run(fmt.Sprintf("%d %s %s", flags, tt.entry, tt.options.Reason), func(t *testing.T) {
			_, err := prepare(t, seeded(fmt.Sprintf("<< /Type /SV /Ff %d %s >>", flags, tt.entry)), p.signer, tt.options)
			checkRefusal(t, err, tt.says)
			if tt.bit > 0 {
				_, err = prepare(t, seeded("<< "+tt.entry+" >>"), p.signer, tt.options)
				checkRefusal(t, err, "")
			}
		})
	}
}

func checkRefusal(t *testing.T, err error, says string) {
	t.Helper()
	if says == "" {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
	} else if !errors.Is(err, ades.ErrForbidden) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
}

// Table 238, for the certificates of the test authority: key usage nonRepudiation alone,
// and the policies of a qualified one.
func TestCertificateSeedValue(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	p := newPerson(t, ca, p256(t))
	der := func(raw []byte) string { return "<" + hex.EncodeToString(raw) + ">" }
	signer, issuer, root := der(p.signer.Certificate.Raw), der(p.signer.Chain[0].Raw), der(ca.Root().Raw)
	policy := p.signer.Certificate.Policies[0].String()
	tests := []struct {
		bit   int
		entry string
		says  string
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
		{4, "/SubjectDN [<< /CN (D\\346mi um nafn) /c (NO) >>]", `Cert/SubjectDN: the signer's name has not the required "c"`},
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
			flags := 1 << (tt.bit - 1)
			for _, required := range []bool{true, false} {
				seed, says := fmt.Sprintf("<< /Cert << %s >> >>", tt.entry), ""
				if required {
					seed, says = fmt.Sprintf("<< /Cert << /Ff %d %s >> >>", flags, tt.entry), tt.says
				}
				_, err := prepare(t, seeded(seed), p.signer, pades.Options{Field: "Buyer"})
				checkRefusal(t, err, says)
			}
		})
	}
}

func TestMalformedSeedValue(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for _, seed := range []string{
		"42", "<< /Ff (1) >>", "<< /Ff 2 /SubFilter 42 >>", "<< /Ff 8 /Reasons [42] >>", "<< /MDP /P >>", "<< /TimeStamp 1 >>",
		"<< /Cert 1 >>", "<< /Cert << /Ff 8 /SubjectDN [1] >> >>", "<< /Cert << /Ff 1 /Subject [" + strings.Repeat("()", 65) + "] >> >>",
		"<< /Ff 2 /SubFilter 101 0 R >>",
	} {
		if _, err := prepare(t, seeded(seed), p.signer, pades.Options{Field: "Buyer"}); !errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%.60s: %v", seed, err)
		}
	}
}

// Seed values that pyHanko writes, and the verdict of its validator on what obeys them.
func TestForeignSeedValue(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, rsaKey(t, 2048))
	folder := t.TempDir()
	file := func(name string, raw []byte) string {
		path := filepath.Join(folder, name)
		writeFile(t, path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
		return path
	}
	signer, issuer := file("signer.pem", p.signer.Certificate.Raw), file("issuer.pem", p.signer.Chain[0].Raw)
	tests := []struct {
		name    string
		seed    pyHankoSeed
		options pades.Options
		says    string
	}{
		{"all that can be", pyHankoSeed{
			"flags": 1 | 2 | 4 | 8 | 64 | 128, "subFilters": []string{"ETSI.CAdES.detached"}, "digests": []string{"sha256", "sha512"},
			"reasons": []string{"Samþykkt", "Agreed"}, "mdp": 0, "lockDocument": "false",
			"certificate": map[string]any{"flags": 1 | 2 | 8 | 32, "subject": signer, "issuers": []string{issuer}, "name": map[string]string{"common_name": "Dæmi um nafn", "country_name": "IS"}, "keyUsage": "01"},
		}, pades.Options{Reason: "Samþykkt"}, ""},
		{"certification", pyHankoSeed{"flags": 0, "mdp": 2}, pades.Options{Certify: pades.FormFilling}, ""},
		{"no reason", pyHankoSeed{"flags": 8, "reasons": []string{"."}}, pades.Options{}, ""},
		{"SHA-512", pyHankoSeed{"flags": 64, "digests": []string{"sha512"}}, pades.Options{}, "DigestMethod: "},
		{"timestamp", pyHankoSeed{"flags": 0, "timestamp": "http://tsa.example"}, pades.Options{}, "TimeStamp: "},
		{"another issuer", pyHankoSeed{"flags": 0, "certificate": map[string]any{"flags": 2, "issuers": []string{signer}}}, pades.Options{}, "Cert/Issuer: "},
		{"revocation data", pyHankoSeed{"flags": 32, "revocation": true}, pades.Options{}, "AddRevInfo: "},
	}
	var cases []signedCase
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := addPyHankoFields(t, pdftest.Build(pdftest.Options{}), pyHankoField{Name: "Buyer", Box: []int{10, 10, 110, 60}, Seed: tt.seed})
			tt.options.Field = "Buyer"
			_, err := prepare(t, b, p.signer, tt.options)
			checkRefusal(t, err, tt.says)
			if tt.says == "" && err == nil {
				cases = append(cases, signedCase{name: tt.name, b: sign(t, b, p, tt.options), fields: []string{"Buyer"}})
			}
		})
	}
	checkForeign(t, ca, cases)
}

// Another hash than that of the key's default satisfies the seed value that asks for it.
func TestSeedValueOfAnotherHash(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, rsaKey(t, 2048))
	p.signer.Algorithm = ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}
	b := seeded("<< /Ff 64 /DigestMethod [/SHA512] >>")
	if got := verify(t, sign(t, b, p, pades.Options{Field: "Buyer"}), ca); len(got) != 1 || !got[0].Passed() {
		t.Errorf("%+v", got)
	}
}
