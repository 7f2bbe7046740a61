package pdflint_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
)

// stored appends an increment with the objects given in the document security store.
func stored(t *testing.T, base []byte, key string, bodies ...string) []byte {
	t.Helper()
	return storeIncrement(t, base, func(_ *pdf.File, update *pdf.Update, _ pdf.Dict) []byte {
		var refs []pdf.Ref
		for _, body := range bodies {
			refs = append(refs, update.Add([]byte(body)))
		}
		return fmt.Appendf(nil, "<< /Type /DSS /%s %v >>", key, refs)
	})
}

// storeIncrement appends an increment with a document security store that is written anew.
func storeIncrement(t *testing.T, base []byte, write func(*pdf.File, *pdf.Update, pdf.Dict) []byte) []byte {
	t.Helper()
	return changed(t, base, func(file *pdf.File, update *pdf.Update, catalog pdf.Dict) {
		store := update.Add(write(file, update, catalog))
		ref, _, err := file.Catalog()
		if err != nil {
			t.Fatal(err)
		}
		source, err := update.Source(ref)
		if err != nil {
			t.Fatal(err)
		}
		if source, err = pdf.SetKey(source, "DSS", []byte(store.String())); err != nil {
			t.Fatal(err)
		}
		update.Set(ref, source)
	})
}

func changed(t *testing.T, base []byte, change func(*pdf.File, *pdf.Update, pdf.Dict)) []byte {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(base), int64(len(base)))
	if err != nil {
		t.Fatal(err)
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	update := file.NewUpdate()
	change(file, update, catalog)
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(base, appended)
}

// related appends an increment with a list in the store, and an entry of the VRI dictionary
// that names it, or the object so many numbers behind it.
func related(t *testing.T, base []byte, name, key string, off uint32) []byte {
	t.Helper()
	return storeIncrement(t, base, func(file *pdf.File, update *pdf.Update, catalog pdf.Dict) []byte {
		list := update.Add([]byte(plainStream(fmt.Sprintf("\x30\x04\x02\x02\x01%c", byte(len(base))))))
		named := pdf.Ref{Num: list.Num - off}
		entry := update.Add(fmt.Appendf(nil, "<< /%s [%s] >>", key, named))
		was, err := file.Dict(catalog["DSS"])
		if err != nil {
			t.Fatal(err)
		}
		lists, err := file.Array(was["CRLs"])
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, item := range append(lists, list) {
			all = append(all, item.(pdf.Ref).String())
		}
		return fmt.Appendf(nil, "<< /Type /DSS /CRLs [%s] /VRI << /%s %s >> >>", strings.Join(all, " "), name, entry)
	})
}

// relisted appends an increment with another list in the store that related has made, and
// its entry of the VRI dictionary under a name.
func relisted(t *testing.T, base []byte, old, name string) []byte {
	t.Helper()
	return changed(t, base, func(_ *pdf.File, update *pdf.Update, catalog pdf.Dict) {
		store := catalog["DSS"].(pdf.Ref)
		source, err := update.Source(store)
		if err != nil {
			t.Fatal(err)
		}
		list := update.Add([]byte(plainStream("\x30\x03\x02\x01\x07")))
		source = bytes.Replace(source, []byte("] /VRI"), fmt.Appendf(nil, " %s] /VRI", list), 1)
		update.Set(store, bytes.Replace(source, []byte(old), []byte(name), 1))
	})
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
	const digest = "0123456789ABCDEF0123456789ABCDEF01234567"
	listed := related(t, base, digest, "CRL", 0)
	pdflint.Clean(t, base, listed)
	pdflint.Clean(t, listed, relisted(t, listed, digest, digest))
	renamed := relisted(t, listed, digest, strings.Repeat("A", 40))
	for _, row := range []struct {
		rule        pdflint.Rule
		says        string
		base, whole []byte
	}{
		{pdflint.Store, "no new stream", base, stored(t, base, "Certs", plainStream("no DER"))},
		{pdflint.Store, "no new stream", base, stored(t, base, "Certs", plainStream(der+"behind"))},
		{pdflint.Store, "no new stream", base, stored(t, base, "OCSPs", "(no stream)")},
		{pdflint.Store, "there already", base, stored(t, base, "CRLs", plainStream(der), plainStream(other), plainStream(der))},
		{pdflint.Store, "is no digest", base, related(t, base, "sig", "CRL", 0)},
		{pdflint.Store, "is not in the store", base, related(t, base, digest, "CRL", 1)},
		{pdflint.Kept, "/VRI: /" + digest + ": was changed", listed, renamed},
		{pdflint.Kept, "/DSS: was an object of its own", good, stored(t, good, "CRLs", plainStream(other))},
	} {
		faults := pdflint.Check(row.base, row.whole)
		if !slices.ContainsFunc(faults, func(f pdflint.Fault) bool { return f.Rule == row.rule && strings.Contains(f.Text, row.says) }) {
			t.Errorf("%s %q not found among %v", row.rule, row.says, faults)
		}
	}
}
