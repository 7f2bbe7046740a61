package pdflint_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/pdflint"
)

// stored appends an increment with the objects given in the document security store.
func stored(t *testing.T, base []byte, key string, bodies ...string) []byte {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(base), int64(len(base)))
	if err != nil {
		t.Fatal(err)
	}
	update := file.NewUpdate()
	var refs []pdf.Ref
	for _, body := range bodies {
		refs = append(refs, update.Add([]byte(body)))
	}
	catalog, _, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	source, err := update.Source(catalog)
	if err != nil {
		t.Fatal(err)
	}
	store := update.Add(fmt.Appendf(nil, "<< /Type /DSS /%s %v >>", key, refs))
	if source, err = pdf.SetKey(source, "DSS", []byte(store.String())); err != nil {
		t.Fatal(err)
	}
	update.Set(catalog, source)
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(base, appended)
}

func plainStream(payload string) string {
	return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(payload), payload)
}

// ISO 32000-2 12.8.4.3: validation data comes in increments of its own, and what is in the
// store stays there.
func TestStore(t *testing.T) {
	base := afterCertified.base(t, newSigner(t))
	const der, other = "\x30\x03\x02\x01\x05", "\x30\x03\x02\x01\x06"
	good := stored(t, base, "CRLs", plainStream(der))
	pdflint.Clean(t, base, good)
	for _, row := range []struct {
		rule        pdflint.Rule
		says        string
		base, whole []byte
	}{
		{pdflint.Store, "no new stream", base, stored(t, base, "Certs", plainStream("no DER"))},
		{pdflint.Store, "no new stream", base, stored(t, base, "Certs", plainStream(der+"behind"))},
		{pdflint.Store, "no new stream", base, stored(t, base, "OCSPs", "(no stream)")},
		{pdflint.Store, "there already", base, stored(t, base, "CRLs", plainStream(der), plainStream(other), plainStream(der))},
		{pdflint.Kept, "/DSS: was an object of its own", good, stored(t, good, "CRLs", plainStream(other))},
	} {
		faults := pdflint.Check(row.base, row.whole)
		if !slices.ContainsFunc(faults, func(f pdflint.Fault) bool { return f.Rule == row.rule && strings.Contains(f.Text, row.says) }) {
			t.Errorf("%s %q not found among %v", row.rule, row.says, faults)
		}
	}
}
