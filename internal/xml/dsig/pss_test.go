package dsig

import (
	"crypto"
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// RFC 9231 2.3.9: the parameters of RSASSA-PSS and their defaults.
func TestPSSParameters(t *testing.T) {
	digest := func(uri string) string { return `<ds:DigestMethod Algorithm="` + uri + `"/>` }
	mask := func(uri string) string {
		return `<p:MaskGenerationFunction Algorithm="` + more2007 + `MGF1">` + digest(uri) + `</p:MaskGenerationFunction>`
	}
	const sha256, sha384, sha512 = xmlenc + "sha256", more2001 + "sha384", xmlenc + "sha512"
	pss := func(h crypto.Hash, salt int) ades.Algorithm {
		return ades.Algorithm{Hash: h, Scheme: ades.PSS, Salt: salt}
	}
	for name, row := range map[string]struct {
		parameters string
		want       ades.Algorithm
		err        error
	}{
		"all":                     {digest(sha384) + mask(sha384) + `<p:SaltLength>48</p:SaltLength><p:TrailerField>1</p:TrailerField>`, pss(crypto.SHA384, 0), nil},
		"everything by default":   {``, pss(crypto.SHA256, 0), nil},
		"salt by default":         {digest(sha512) + mask(sha512), pss(crypto.SHA512, 0), nil},
		"another salt":            {`<p:SaltLength> 20 </p:SaltLength>`, pss(crypto.SHA256, 20), nil},
		"a function by default":   {`<p:MaskGenerationFunction/>`, pss(crypto.SHA256, 0), nil},
		"mask by another hash":    {digest(sha512) + mask(sha256), ades.Algorithm{}, ades.ErrAlgorithm},
		"mask by default":         {digest(sha512), pss(crypto.SHA512, 0), nil},
		"its hash by default":     {digest(sha384) + `<p:MaskGenerationFunction/>`, pss(crypto.SHA384, 0), nil},
		"another function":        {`<p:MaskGenerationFunction Algorithm="urn:c"/>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"an element in the mask":  {`<p:MaskGenerationFunction><c/></p:MaskGenerationFunction>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"an unknown hash":         {digest("urn:c") + mask("urn:c"), ades.Algorithm{}, ades.ErrAlgorithm},
		"no salt":                 {`<p:SaltLength>0</p:SaltLength>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"a negative salt":         {`<p:SaltLength>-1</p:SaltLength>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"salt that is no number":  {`<p:SaltLength>c</p:SaltLength>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"salt in an element":      {`<p:SaltLength>2<c/>0</p:SaltLength>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"another trailer":         {`<p:TrailerField>2</p:TrailerField>`, ades.Algorithm{}, ades.ErrAlgorithm},
		"in another order":        {`<p:SaltLength>20</p:SaltLength>` + digest(sha256), ades.Algorithm{}, ErrFormat},
		"more than is known":      {`<p:SaltLength>20</p:SaltLength><c/>`, ades.Algorithm{}, ErrFormat},
		"one of another standard": {`<SaltLength>20</SaltLength>`, ades.Algorithm{}, ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, `<ds:SignatureMethod xmlns:ds="`+Namespace+`" xmlns:p="`+more2007+`" Algorithm="`+more2007+`rsa-pss"><p:RSAPSSParams>`+
				row.parameters+`</p:RSAPSSParams></ds:SignatureMethod>`)
			got, err := readSignatureMethod(d.Root())
			if got != row.want || !errors.Is(err, row.err) {
				t.Errorf("%v, %v; want %v, %v", got, err, row.want, row.err)
			}
		})
	}
}

// The method with parameters is the one without, for the same parameters.
func TestPSSWithParametersVerifies(t *testing.T) {
	k := newRSASigner(t, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS})
	document := `<a>` + k.signature(t, reference("", filter2, excC14N)) + `</a>`
	for parameters, want := range map[string]error{
		``: nil,
		`<p:RSAPSSParams xmlns:p="` + more2007 + `"/>`:                                                nil,
		`<p:RSAPSSParams xmlns:p="` + more2007 + `"><p:SaltLength>33</p:SaltLength></p:RSAPSSParams>`: ades.ErrValue,
	} {
		method := `<ds:SignatureMethod Algorithm="` + more2007 + `rsa-pss">` + parameters + `</ds:SignatureMethod>`
		signed := k.sign(t, strings.Replace(document, `<ds:SignatureMethod Algorithm="`+more2007+`sha256-rsa-MGF1"/>`, method, 1))
		if err := verify(t.Context(), signed); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", parameters, err, want)
		}
	}
}
