package xades

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// withUnsigned is a signature with unsigned properties.
func withUnsigned(t testing.TB, properties string) string {
	t.Helper()
	const end = "</xades:QualifyingProperties>"
	signed := signedBy(t, newAuthority(t), `<a>b</a>`, Options{})
	return strings.Replace(signed, end, `<xades:UnsignedProperties xmlns:xades141="`+ns141+`"><xades:UnsignedSignatureProperties>`+
		properties+`</xades:UnsignedSignatureProperties></xades:UnsignedProperties>`+end, 1)
}

// responses are values of OCSP, which are not looked into, of so many numbers.
func responses(numbers ...int) string {
	var b strings.Builder
	for _, n := range numbers {
		b.WriteString(base64Element("xades:EncapsulatedOCSPValue", nil, fmt.Append(nil, n)))
	}
	return element("xades:OCSPValues", nil, b.String())
}

// Validation data is read where EN 319 132-1 5.4 and 5.5 have it, and known by what comes before.
func TestReadValues(t *testing.T) {
	t.Parallel()
	revocation := func(numbers ...int) string { return element("xades:RevocationValues", nil, responses(numbers...)) }
	all := readAll(t, withUnsigned(t, ""+
		revocation(1)+
		element("xades:AttributeRevocationValues", nil, responses(2))+
		element("xades141:TimeStampValidationData", nil, element("xades:CertificateValues", nil), revocation(3, 1))+
		element("xades141:AnyValidationData", nil, revocation(4))+
		element("xades:TimeStampValidationData", nil, revocation(90))+ // of another namespace
		element("xades:CompleteRevocationRefs", nil, responses(91))+
		element("xades:RevocationValues", nil, element("a", nil, responses(92)))+
		element("xades:RevocationValues", nil, element("xades:OCSPValues", nil,
			"<xades:EncapsulatedOCSPValue> N\n\tQ= = </xades:EncapsulatedOCSPValue><xades:EncapsulatedOCSPValue>*</xades:EncapsulatedOCSPValue>"+
				"<xades:EncapsulatedOCSPValue>OTM<b/>=</xades:EncapsulatedOCSPValue><xades:EncapsulatedOCSPValue/>"))+
		revocation(6)))
	text := func(ders [][]byte) (all []string) {
		for _, der := range ders {
			all = append(all, string(der))
		}
		return all
	}
	s := all[0]
	if diff := cmp.Diff([]string{"1", "2", "3", "4", "5", "6"}, text(s.validationData.OCSP)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, text(s.dataBefore(s.values[3].property).OCSP)); diff != "" {
		t.Errorf("before the fourth (-want +got):\n%s", diff)
	}
}

// The pieces of validation data are bounded for the document, and so are its signatures.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	var numbers []int
	for i := range maxUnsignedValues + 10 {
		numbers = append(numbers, i)
	}
	all := readAll(t, withUnsigned(t, element("xades:RevocationValues", nil, responses(numbers...))))
	if n := len(all[0].validationData.OCSP); n != maxUnsignedValues {
		t.Errorf("%d values were read", n)
	}
	d, err := xmldoc.Parse([]byte(`<a xmlns="` + xmldsig.Namespace + `">` + strings.Repeat("<Signature/>", maxSignatures+1) + `</a>`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readSignatures(t.Context(), d); !errors.Is(err, ades.ErrUnreadable) {
		t.Error(err)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                 "",
		" \n":              "",
		"YWJj":             "abc",
		" YW\r\nJj\t":      "abc",
		"YW<!-- c -->Jj":   "abc",
		"YW<![CDATA[Jj]]>": "abc",
		"YWJjZA==":         "abcd",
		"YWJjZGU=":         "", // too long
		"YWJjZA":           "",
		"YW<b/>Jj":         "",
		"YWJj&#xA0;":       "",
		base64.URLEncoding.EncodeToString([]byte("\xff\xff\xff")): "",
	} {
		d, err := xmldoc.Parse([]byte("<a>" + text + "</a>"))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := decode(d.Root(), 4)
		if !ok {
			got = nil
		}
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

// A time without a zone is taken for UTC.
func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-06-17T12:30:15Z":      "2026-06-17 12:30:15",
		"2026-06-17T12:30:15.25Z":   "2026-06-17 12:30:15",
		"2026-06-17T14:30:15+02:00": "2026-06-17 12:30:15",
		"2026-06-17T12:30:15":       "2026-06-17 12:30:15",
		"2026-06-17":                "0001-01-01 00:00:00",
		"":                          "0001-01-01 00:00:00",
	} {
		if got := parseTime(text).Format("2006-01-02 15:04:05"); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
