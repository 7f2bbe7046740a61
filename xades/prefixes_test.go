package xades_test

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// amounts has prefixes, and a default namespace, in values alone.
const amounts = `<?xml version="1.0"?><p:a xmlns:p="urn:p" xmlns:q="urn:good" xmlns="urn:good" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
	`<p:amount xsi:type="q:ISK">100</p:amount><p:amount xsi:type="ISK">100</p:amount><p:unit xmlns:þ="urn:good">þ:ISK</p:unit></p:a>`

// What prefixes in values mean is signed with them, where the whole document is: whoever binds them to
// something else is found out by everybody.
func TestPrefixesInValues(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, sign(t, []byte(amounts), p, xades.Options{}), p, xades.Options{})
	if lists := bytes.Count(signed, []byte(`PrefixList="p q #default xsi &#xFE;"`)); lists != 2 {
		t.Errorf("%d lists of all prefixes", lists)
	}
	files := [][]byte{
		signed,
		signLevel(t, signed, p, ades.LTA, xades.Options{}),
		signLevel(t, prefixed(200), p, ades.LTA, xades.Options{}),
		altered(t, signed, `xmlns:q="urn:good"`, `xmlns:q="urn:evil"`),
		altered(t, signed, `xmlns="urn:good"`, `xmlns="urn:evil"`),
		altered(t, signed, `xmlns:þ="urn:good"`, `xmlns:þ="urn:evil"`),
		altered(t, signed, `xsi:type="q:ISK"`, `xmlns:q="urn:evil" xsi:type="q:ISK"`),
		altered(t, signed, `xsi:type="ISK"`, `xmlns="urn:evil" xsi:type="ISK"`),
	}
	const right = 3
	var paths []string
	for i, b := range files {
		paths = append(paths, filepath.Join(t.TempDir(), fmt.Sprint(i, ".xml")))
		writeFile(t, paths[i], b)
		for _, s := range verify(t, b, p.ca) {
			if s.Intact != (i < right) {
				t.Errorf("file %d: %s %s %v", i, s.Indication, s.SubIndication, s.Problems)
			}
		}
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{p.ca.Root()}, RevocationOptional: true}, paths...) {
		for _, s := range r.Signatures {
			if (s.Indication == "TOTAL_PASSED") != (i < right) || i == 2 && s.Format != "XAdES-BASELINE-LTA" || len(s.Structure) > 0 {
				t.Errorf("file %d: EU DSS: %s %s %s %v", i, s.Format, s.Indication, s.SubIndication, s.Structure)
			}
		}
	}
	for i, r := range validators.XMLSec(t, nil, paths...) {
		for _, s := range r.Signatures {
			if s.Valid != (i < right) {
				t.Errorf("file %d: XML Security Library: %+v", i, s)
			}
		}
	}
}

// prefixed is a document that declares so many prefixes.
func prefixed(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `<n%d:a xmlns:n%d="urn:%d"/>`, i, i, i)
	}
	return []byte("<a>" + b.String() + "</a>")
}
