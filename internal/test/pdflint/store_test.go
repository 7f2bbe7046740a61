package pdflint_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
)

// TestStore checks increments that add validation data to the document security store (12.8.4.3).
func TestStore(t *testing.T) {
	const digest = "0123456789ABCDEF0123456789ABCDEF01234567"
	const vri = "<< /Type /DSS /CRLs [$1] /VRI << /" + digest + " $2 >> >>"
	der, other := derStream("\x05"), derStream("\x06")
	base := afterCertified.base(t, newSigner(t))
	good := withStore(t, base, "<< /Type /DSS /CRLs [$1] >>", der)
	related := withStore(t, base, vri, der, "<< /CRL [$1] >>")
	extended := withNextCRL(t, related, digest, digest)
	pdflint.Clean(t, base, good)
	pdflint.Clean(t, base, related, extended)
	for _, test := range []struct {
		rule        pdflint.Rule
		text        string
		base, whole []byte
	}{
		{pdflint.Store, "no new stream", base, withStore(t, base, "<< /Type /DSS /Certs [$1] >>", payloadStream("no DER"))},
		{pdflint.Store, "no new stream", base, withStore(t, base, "<< /Type /DSS /Certs [$1] >>", payloadStream("\x30\x03\x02\x01\x05more"))},
		{pdflint.Store, "no new stream", base, withStore(t, base, "<< /Type /DSS /OCSPs [$1] >>", "(no stream)")},
		{pdflint.Store, "there already", base, withStore(t, base, "<< /Type /DSS /CRLs [$1 $2 $3] >>", der, other, der)},
		{pdflint.Store, "is no digest", base, withStore(t, base, strings.Replace(vri, digest, "sig", 1), der, "<< /CRL [$1] >>")},
		{pdflint.Store, "is not in the store", base, withStore(t, base, vri, der, "<< /CRL [10 0 R] >>")},
		{pdflint.Kept, "/VRI: /" + digest + ": was changed", related, withNextCRL(t, related, digest, strings.Repeat("A", 40))},
		{pdflint.Kept, "/DSS: was an object of its own", good, withStore(t, good, "<< /Type /DSS /CRLs [$1] >>", other)},
	} {
		checkFault(t, pdflint.Check(test.base, test.whole), test.rule, test.text)
	}
}

func payloadStream(payload string) string {
	return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(payload), payload)
}

// derStream returns a stream with a SEQUENCE of one INTEGER.
func derStream(value string) string { return payloadStream("\x30\x03\x02\x01" + value) }

// withStore appends an increment with new objects and a new store. In the texts, $1 is the first object, and so on.
func withStore(t *testing.T, base []byte, store string, objects ...string) []byte {
	t.Helper()
	return appendObjects(t, base, func(update *pdf.Update, root pdf.Ref, _ pdf.Dict) {
		var pairs []string
		refs := make([]pdf.Ref, len(objects))
		for i := range objects {
			refs[i] = update.Reserve()
			pairs = append(pairs, fmt.Sprintf("$%d", i+1), refs[i].String())
		}
		expand := strings.NewReplacer(pairs...)
		for i, body := range objects {
			update.Set(refs[i], []byte(expand.Replace(body)))
		}
		dss := update.Add([]byte(expand.Replace(store)))
		source, err := update.Source(root)
		if err != nil {
			t.Fatal(err)
		}
		if source, err = pdf.SetKey(source, "DSS", []byte(dss.String())); err != nil {
			t.Fatal(err)
		}
		update.Set(root, source)
	})
}

// withNextCRL appends an increment that adds a CRL to the store, and renames a key of VRI.
func withNextCRL(t *testing.T, base []byte, old, name string) []byte {
	t.Helper()
	return appendObjects(t, base, func(update *pdf.Update, _ pdf.Ref, catalog pdf.Dict) {
		store := catalog["DSS"].(pdf.Ref)
		source, err := update.Source(store)
		if err != nil {
			t.Fatal(err)
		}
		source = bytes.Replace(source, []byte("] /VRI"), fmt.Appendf(nil, " %s] /VRI", update.Add([]byte(derStream("\x07")))), 1)
		update.Set(store, bytes.Replace(source, []byte(old), []byte(name), 1))
	})
}

// appendObjects appends an increment that change fills.
func appendObjects(t *testing.T, base []byte, change func(update *pdf.Update, root pdf.Ref, catalog pdf.Dict)) []byte {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(base), int64(len(base)))
	if err != nil {
		t.Fatal(err)
	}
	root, catalog, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	update := file.NewUpdate()
	change(update, root, catalog)
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(base), appended...)
}
