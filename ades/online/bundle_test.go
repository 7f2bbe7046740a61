package online_test

import (
	"bytes"
	"encoding/pem"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades/online"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Certificates are read in the forms in which authorities publish them, and what is none
// is said, beside those that are.
func TestParseBundle(t *testing.T) {
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := ca.Issuers()
	if err != nil {
		t.Fatal(err)
	}
	root, issuing := ca.Root().Raw, ca.Chain()[0].Raw
	encoded := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	for _, test := range []struct {
		name, content string
		want          [][]byte
		fault         bool
	}{
		{"DER", string(root), [][]byte{root}, false},
		{"certs-only CMS", string(bundle), [][]byte{issuing, root}, false},
		{"PEM", "Root:\n" + encoded("CERTIFICATE", root) + encoded("CERTIFICATE", issuing), [][]byte{root, issuing}, false},
		{"PKCS7 in PEM", encoded("PKCS7", bundle), [][]byte{issuing, root}, false},
		{"CMS in PEM", encoded("CMS", bundle) + encoded("CERTIFICATE", root), [][]byte{issuing, root, root}, false},
		{"certificate and something else", encoded("DH PARAMETERS", []byte{1}) + encoded("CERTIFICATE", root), [][]byte{root}, false},
		{"something else", encoded("PUBLIC KEY", []byte{1}), nil, true},
		{"certificate that is none", encoded("CERTIFICATE", root) + encoded("CERTIFICATE", []byte{1}) + encoded("CERTIFICATE", issuing), [][]byte{root, issuing}, true},
		{"CMS that is none", encoded("CERTIFICATE", root) + encoded("CMS", []byte{1}), [][]byte{root}, true},
		{"certificate and a bit", string(root) + "\x00", nil, true},
		{"garbage", "certificate", nil, true},
		{"nothing", "", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			certificates, err := online.ParseBundle([]byte(test.content))
			if (err != nil) != test.fault {
				t.Fatalf("error %v", err)
			}
			var got [][]byte
			for _, c := range certificates {
				got = append(got, c.Raw)
			}
			slices.SortFunc(got, bytes.Compare) // a CMS has them in no order of its own
			slices.SortFunc(test.want, bytes.Compare)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
