package storagetest

import (
	"bytes"
	"crypto"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

var reopening = tests{
	"new records are listed after earlier ones": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := addAccounts(t, b, "b", "a")
		b = b.Reopen(t)
		want = append(want, addAccounts(t, b, "d", "c")...)
		got, err := b.Accounts.Accounts(t.Context())
		checkRead(t, got, err, want)
	},

	"documents are unchanged, and revisions can be appended": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20+1)
		ref := create(t, b, p, crypto.SHA256)
		appendRevisions(t, b, ref, storage.Revision{Base: ref.Size, Bytes: []byte("one")})
		hashed := openBlob(t, b, ref.ID).Hashed()

		b = b.Reopen(t)
		if diff := cmp.Diff(hashed, openBlob(t, b, ref.ID).Hashed()); diff != "" {
			t.Errorf("hash states (-before +after):\n%s", diff)
		}
		appendRevisions(t, b, ref, storage.Revision{Base: ref.Size + 3, Bytes: []byte("two")})
		checkDocument(t, b, ref.ID, append(p, "onetwo"...))
	},

	"a document whose creation was interrupted can be swept": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var again Backend
		stop := &hookReader{then: func() error { again = b.Reopen(t); return nil }}
		r := io.MultiReader(bytes.NewReader(content(1, 3<<20)), stop, bytes.NewReader(content(2, 3<<20)))
		if ref, err := b.Documents.Create(t.Context(), r, 1<<30); err == nil {
			t.Fatalf("a closed backend stored %s", ref.ID)
		}
		if _, err := again.Documents.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		checkNothingToSweep(t, again)
	},
}
