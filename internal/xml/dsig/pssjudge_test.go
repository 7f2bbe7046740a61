package dsig

import (
	"crypto"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// EU DSS has the same defaults for the parameters of RSASSA-PSS (RFC 9231 2.3.9), where there is a DigestMethod,
// which it asks for.
func TestPSSDefaultsOfOthers(t *testing.T) {
	t.Parallel()
	const list = `<p:RSAPSSParams xmlns:p="` + more2007 + `">%s</p:RSAPSSParams>`
	digest := `<ds:DigestMethod Algorithm="` + xmlenc + `sha512"/>`
	sha256, sha512 := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PSS}
	var paths []string
	for i, test := range []struct {
		algorithm  ades.Algorithm
		parameters string
	}{
		{sha256, fmt.Sprintf(list, strings.Replace(digest, "sha512", "sha256", 1))},
		{sha512, fmt.Sprintf(list, digest)},
		{sha512, fmt.Sprintf(list, digest+`<p:MaskGenerationFunction Algorithm="`+more2007+`MGF1"/>`)},
		{sha512, fmt.Sprintf(list, digest+`<p:SaltLength>64</p:SaltLength><p:TrailerField>1</p:TrailerField>`)},
	} {
		k := newRSASigner(t, test.algorithm)
		named, err := SignatureMethod(test.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		document := `<a>` + k.signature(t, reference("", filter2, excC14N)) + `</a>`
		method := `<ds:SignatureMethod Algorithm="` + more2007 + `rsa-pss">` + test.parameters + `</ds:SignatureMethod>`
		signed := k.sign(t, strings.Replace(document, `<ds:SignatureMethod Algorithm="`+named+`"/>`, method, 1))
		if err := verify(t.Context(), signed); err != nil {
			t.Errorf("%s: %v", test.parameters, err)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.xml", i))
		if err := os.WriteFile(path, []byte(signed), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{}, paths...) {
		if len(r.Signatures) != 1 || !r.Signatures[0].Intact || !r.Signatures[0].Valid {
			t.Errorf("%d: %+v", i, r)
		}
	}
}
