package dsig

import (
	"crypto"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// TestURIs checks the URIs of digest methods, and which algorithms have no URI for new signatures.
// [TestVerify] has the signature methods.
func TestURIs(t *testing.T) {
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		uri, err := DigestMethod(h)
		if got := Hash(uri); err != nil || got != h {
			t.Errorf("%v: got %q for %v, %v", h, uri, got, err)
		}
	}
	if got := Hash(Namespace + "md5"); got != 0 {
		t.Errorf("unknown digest method: got %v", got)
	}
	_, sha1 := DigestMethod(crypto.SHA1)
	_, rsaSHA1 := SignatureMethod(ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PKCS1v15})
	_, salt := SignatureMethod(ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS, Salt: 20})
	for name, err := range map[string]error{"SHA-1": sha1, "RSA with SHA-1": rsaSHA1, "PSS with a salt of 20 bytes": salt} {
		if !errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("%s: got %v, want %v", name, err, ades.ErrAlgorithm)
		}
	}
}

// pssMethod is the SignatureMethod of RSASSA-PSS with parameters, or without RSAPSSParams.
func pssMethod(parameters string) string {
	if parameters != "" {
		parameters = `<p:RSAPSSParams>` + parameters + `</p:RSAPSSParams>`
	}
	return `<ds:SignatureMethod xmlns:ds="` + Namespace + `" xmlns:p="` + more2007 + `" Algorithm="` + more2007 + `rsa-pss">` + parameters + `</ds:SignatureMethod>`
}

func pssDigest(uri string) string { return `<ds:DigestMethod Algorithm="` + uri + `"/>` }

func pssMask(uri string) string {
	return `<p:MaskGenerationFunction Algorithm="` + more2007 + `MGF1">` + pssDigest(uri) + `</p:MaskGenerationFunction>`
}

const sha256URI, sha384URI, sha512URI = xmlenc + "sha256", more2001 + "sha384", xmlenc + "sha512"

// TestPSSParameters checks the parameters of RSASSA-PSS and their defaults (RFC 9231 2.3.9).
func TestPSSParameters(t *testing.T) {
	pss := func(h crypto.Hash, salt int) ades.Algorithm {
		return ades.Algorithm{Hash: h, Scheme: ades.PSS, Salt: salt}
	}
	for name, row := range map[string]struct {
		parameters string
		want       ades.Algorithm
		err        error
	}{
		"all parameters": {
			pssDigest(sha384URI) + pssMask(sha384URI) + `<p:SaltLength>48</p:SaltLength><p:TrailerField>1</p:TrailerField>`, pss(crypto.SHA384, 0), nil,
		},
		"no parameters":               {``, pss(crypto.SHA256, 0), nil},
		"default salt":                {pssDigest(sha512URI) + pssMask(sha512URI), pss(crypto.SHA512, 0), nil},
		"default mask":                {pssDigest(sha512URI), pss(crypto.SHA512, 0), nil},
		"default hash of the mask":    {pssDigest(sha384URI) + `<p:MaskGenerationFunction/>`, pss(crypto.SHA384, 0), nil},
		"another salt":                {`<p:SaltLength> 20 </p:SaltLength>`, pss(crypto.SHA256, 20), nil},
		"another hash of the mask":    {pssDigest(sha512URI) + pssMask(sha256URI), ades.Algorithm{}, ades.ErrAlgorithm},
		"another mask function":       {`<p:MaskGenerationFunction Algorithm="urn:c"/>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"unknown element in the mask": {`<p:MaskGenerationFunction><c/></p:MaskGenerationFunction>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"unknown hash":                {pssDigest("urn:c") + pssMask("urn:c"), ades.Algorithm{}, ades.ErrAlgorithm},
		"salt of 0 bytes":             {`<p:SaltLength>0</p:SaltLength>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"salt that is no number":      {`<p:SaltLength>c</p:SaltLength>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"element in the salt":         {`<p:SaltLength>2<c/>0</p:SaltLength>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"another trailer field":       {`<p:TrailerField>2</p:TrailerField>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"parameters in another order": {`<p:SaltLength>20</p:SaltLength>` + pssDigest(sha256URI), ades.Algorithm{}, ErrFormat},
		"parameter without namespace": {`<SaltLength>20</SaltLength>`, ades.Algorithm{}, ErrFormat},
	} {
		got, err := readSignatureMethod(parse(t, pssMethod(row.parameters)).Root())
		if got != row.want || !errors.Is(err, row.err) {
			t.Errorf("%s: got %v, %v; want %v, %v", name, got, err, row.want, row.err)
		}
	}
}

// TestPSSParametersVerify signs with SignatureMethods that have parameters, and verifies the signatures
// with this package and with EU DSS, which requires a DigestMethod and has the same defaults.
func TestPSSParametersVerify(t *testing.T) {
	t.Parallel()
	var paths []string
	for i, row := range []struct {
		hash       crypto.Hash
		parameters string
		want       error
		dss        bool
	}{
		{crypto.SHA256, ``, nil, false},
		{crypto.SHA256, `<p:SaltLength>33</p:SaltLength>`, ades.ErrValue, false},
		{crypto.SHA256, pssDigest(sha256URI), nil, true},
		{crypto.SHA512, pssDigest(sha512URI), nil, true},
		{crypto.SHA512, pssDigest(sha512URI) + `<p:MaskGenerationFunction Algorithm="` + more2007 + `MGF1"/>`, nil, true},
		{crypto.SHA512, pssDigest(sha512URI) + `<p:SaltLength>64</p:SaltLength><p:TrailerField>1</p:TrailerField>`, nil, true},
	} {
		k := newRSASigner(t, ades.PSS, row.hash)
		uri, err := SignatureMethod(k.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		document := `<a>` + k.signature(t, reference("", filter2, excC14N)) + `</a>`
		signed := k.sign(t, strings.Replace(document, `<ds:SignatureMethod Algorithm="`+uri+`"/>`, pssMethod(row.parameters), 1))
		if err := verify(t.Context(), signed); !errors.Is(err, row.want) {
			t.Errorf("%s: got %v, want %v", row.parameters, err, row.want)
		}
		if !row.dss {
			continue
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.xml", i))
		if err := os.WriteFile(path, []byte(signed), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	t.Run("EU DSS", func(t *testing.T) {
		for i, r := range validators.DSS(t, validators.DSSOptions{}, paths...) {
			if len(r.Signatures) != 1 || !r.Signatures[0].Intact || !r.Signatures[0].Valid {
				t.Errorf("%s: %+v", paths[i], r)
			}
		}
	})
}
