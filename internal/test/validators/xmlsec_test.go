package validators

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

func TestXMLSec(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	root, rootKey := issue(t, rootTemplate, nil, nil)
	stranger, _ := issue(t, rootTemplate, nil, nil)
	key := certtest.NewRSAKey(t, 2048)
	leaf := issueTo(t, leafTemplate, key.Public(), root, rootKey)
	writeKey(t, path("key.pem"), key)
	writePEM(t, path("leaf.pem"), leaf)
	mustRun(t, testenv.Tool(t, "xmlsec/bin/python"), filepath.Join("testdata", "signxml.py"),
		path("key.pem"), path("leaf.pem"), "2", path("signed.xml"))
	signed, err := os.ReadFile(path("signed.xml"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path("forged.xml"), bytes.Replace(signed, []byte("842"), []byte("841"), 1))
	writeFile(t, path("none.xml"), []byte("<letter/>"))
	writeFile(t, path("not.xml"), []byte("<letter>"))
	files := []string{path("signed.xml"), path("forged.xml"), path("none.xml"), path("not.xml")}
	for name, test := range map[string]struct {
		roots []*x509.Certificate
		good  bool
	}{
		"its root":     {[]*x509.Certificate{root}, true},
		"another root": {[]*x509.Certificate{stranger}, false},
		"no root":      {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			reports := XMLSec(t, test.roots, files...)
			var valid [][]bool
			for _, report := range reports {
				var all []bool
				for _, s := range report.Signatures {
					all = append(all, s.Valid)
				}
				valid = append(valid, all)
			}
			want := [][]bool{{test.good, test.good}, {false, false}, nil, nil}
			if diff := cmp.Diff(want, valid); diff != "" {
				t.Errorf("-want +got:\n%s\n%+v", diff, reports)
			}
			if reports[0].Signatures[1].ID != "Sig2" || reports[2].Error != "" || reports[3].Error == "" {
				t.Errorf("%+v", reports)
			}
		})
	}
}

// What the foreign programs say about XML of others, without any anchor. The library does not
// mind that a signed element is not where XAdES looks for it; DSS does, and knows the schema.
func TestForeignXML(t *testing.T) {
	folder := testenv.Corpus(t, "signed/xml")
	for name, test := range map[string]struct {
		dss    [][3]string
		xmlsec []bool
	}{
		"xades-lta-valid.xml": {
			[][3]string{{"XAdES-BASELINE-LTA", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"}}, []bool{true},
		},
		"doubleSignedTest.xml": {
			[][3]string{
				{"XAdES-BASELINE-LTA", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"},
				{"XAdES-A", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"},
			}, []bool{true, true},
		},
		"XSW-enveloped-fake-signedProperties.xml": {
			[][3]string{{"XML-NOT-ETSI", "INDETERMINATE", "SIGNED_DATA_NOT_FOUND"}}, []bool{true},
		},
		"dss-signed-altered-refRemoved.xml": {
			[][3]string{{"XML-NOT-ETSI", "INDETERMINATE", "SIGNED_DATA_NOT_FOUND"}}, []bool{false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, name)
			var dss [][3]string
			for _, s := range DSS(t, DSSOptions{}, path)[0].Signatures {
				dss = append(dss, [3]string{s.Format, s.Indication, s.SubIndication})
				if len(s.Structure) > 0 {
					t.Errorf("structure: %q", s.Structure)
				}
			}
			var xmlsec []bool
			for _, s := range XMLSec(t, nil, path)[0].Signatures {
				xmlsec = append(xmlsec, s.Valid)
			}
			if diff := cmp.Diff(test.dss, dss); diff != "" {
				t.Errorf("EU DSS (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.xmlsec, xmlsec); diff != "" {
				t.Errorf("XML Security Library (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDSSOnXML(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(testenv.Corpus(t, "signed/xml"), "xades-lta-valid.xml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "schema.xml")
	writeFile(t, path, bytes.Replace(source, []byte("</xades:SigningTime>"), []byte("</xades:SigningTime><xades:Strange/>"), 1))
	report := DSS(t, DSSOptions{}, path)[0]
	if len(report.Signatures) != 1 || len(report.Signatures[0].Structure) != 1 || report.Signatures[0].Valid {
		t.Errorf("%+v", report)
	}
	var types []string
	for _, s := range report.Timestamps {
		types = append(types, s.Type)
	}
	if diff := cmp.Diff([]string{"SIGNATURE_TIMESTAMP", "ARCHIVE_TIMESTAMP"}, types); diff != "" {
		t.Errorf("timestamps (-want +got):\n%s", diff)
	}
}
