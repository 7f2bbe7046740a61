package pdf

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// checkEncryptedUpdate adds objects of all kinds to an encrypted file and changes one, and
// reads all of it again.
func checkEncryptedUpdate(t *testing.T, content []byte) {
	t.Helper()
	f := mustOpen(t, content)
	u := f.NewUpdate()
	info := f.Trailer()["Info"].(Ref)
	source, err := u.Source(info)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := SetKey(source, "Author", []byte(`(New \(author\))`))
	if err != nil {
		t.Fatal(err)
	}
	u.Set(info, changed)
	const signature = "<< /Type /Sig /ByteRange [0 0 0 0]   /Contents <616263> /Reason (Agreed)"
	signed := u.Add([]byte(signature + " /Nested [<< /Deep (down below) >>] >> % a comment"))
	stream := u.Add([]byte(streamBody("/Note (beside it)", []byte("a payload of some bytes"))))
	appended, offsets, err := u.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if at := int(offsets[signed]); !bytes.HasPrefix(appended[at:], []byte(signature[:strings.Index(signature, "/Reason")])) {
		t.Errorf("the signature dictionary begins with %.80q", appended[at:])
	}
	again := mustOpen(t, slices.Concat(content, appended))
	wantSecrets(t, again)
	for _, want := range []struct {
		ref  Ref
		text string
	}{
		{info, `/Author(New \(author\))`}, {info, `/Title (Undirritun \(1\))`},
		{signed, "/Contents <616263> /Reason (Agreed) /Nested [<< /Deep (down below) >>] >>"},
	} {
		if got, err := again.Source(want.ref); err != nil || !bytes.Contains(got, []byte(want.text)) {
			t.Errorf("object %v is %s, %v; want %s in it", want.ref, got, err, want.text)
		}
	}
	added, err := again.StreamObject(stream)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Stream(added, 100); err != nil || string(got) != "a payload of some bytes" || added.Dict["Note"] != String("beside it") {
		t.Errorf("stream %q with %v, %v", got, added.Dict, err)
	}
	wantHidden(t, again, appended)
}

// wantHidden checks that what is encrypted is not to be read in the update.
func wantHidden(t *testing.T, f *File, appended []byte) {
	t.Helper()
	if f.encryption.strings != identity {
		for _, text := range []string{"New ", "Agreed", "down below", "beside it", "Undirritun"} {
			if bytes.Contains(appended, []byte(text)) {
				t.Errorf("the string %q is not encrypted", text)
			}
		}
	}
	if f.encryption.streams != identity && bytes.Contains(appended, []byte("a payload")) {
		t.Error("the payload is not encrypted")
	}
}

// What the update added is what qpdf reads.
func TestQPDFReadsEncryptedUpdates(t *testing.T) {
	for name := range encryptions {
		t.Run(name, func(t *testing.T) {
			content := encryptWith(t, name)
			f := mustOpen(t, content)
			u := f.NewUpdate()
			ref, catalog, err := f.Catalog()
			if err != nil {
				t.Fatal(err)
			}
			source, err := u.Source(ref)
			if err != nil {
				t.Fatal(err)
			}
			added := u.Add([]byte(streamBody("/Note (beside it)", []byte("a payload of some bytes"))))
			signature := u.Add([]byte("<< /Type /Sig /ByteRange [0 0 0 0] /Contents <616263> /Reason (Agreed) >>"))
			pieces := "<< /Stream " + added.String() + " /Sig " + signature.String() + " /Text (D\\351j\\340) >>"
			if source, err = SetKey(source, "PieceInfo", []byte(pieces)); err != nil {
				t.Fatal(err)
			}
			u.Set(ref, source)
			appended, _, err := u.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			out, err := qpdfDecrypt(t, slices.Concat(content, appended))
			if err != nil {
				t.Fatalf("qpdf: %v\n%.2000s", err, out)
			}
			for _, want := range []string{"(beside it)", "a payload of some bytes", "<616263>", "(Agreed)", "<44e96ae0>", string(catalog["Lang"].(String)), "(Because)"} {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("qpdf does not see %q", want)
				}
			}
		})
	}
}

// A body has to be read to be encrypted.
func TestEncryptedUpdateRefused(t *testing.T) {
	content := encryptedFile(t, aes256, secrets())
	for name, body := range map[string]string{
		"no object":                 "<< /T (",
		"two objects":               "(a) (b)",
		"Length by reference":       "<< /Length 9 0 R >>\nstream\nabc\nendstream",
		"Length behind the end":     "<< /Length 99 >>\nstream\nabc\nendstream",
		"Length before the end":     "<< /Length 1 >>\nstream\nabc\nendstream",
		"negative Length":           "<< /Length -1 >>\nstream\nabc\nendstream",
		"text behind the endstream": "<< /Length 3 >>\nstream\nabc\nendstream 1",
	} {
		u := mustOpen(t, content).NewUpdate()
		u.Add([]byte(body))
		if _, _, err := u.Bytes(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A cross-reference is rebuilt without the key, the objects are read with it.
func TestRebuiltEncryptedFile(t *testing.T) {
	objects := secrets()
	delete(objects, 7) // signed files are not rebuilt
	content := encryptedFile(t, aes256, objects)
	content = bytes.Replace(content, []byte("startxref\n"), []byte("startxref\n1"), 1)
	f, err := Rebuild(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if updated, err := resetCatalog(f, content); err != nil {
		t.Fatal(err)
	} else {
		f = mustOpen(t, updated)
	}
	_, catalog, err := f.Catalog()
	if err != nil || catalog["Lang"] != String("is-IS") {
		t.Errorf("%v, %v", catalog, err)
	}
	if note, err := f.Dict(Ref{Num: 9}); err != nil || note["Contents"] != String("A note") {
		t.Errorf("%v, %v", note, err)
	}
}
