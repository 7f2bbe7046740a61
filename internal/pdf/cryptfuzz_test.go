package pdf

import (
	"bytes"
	"reflect"
	"testing"
)

// The encryption dictionary of a file may be anything, and so may what it is to decrypt.
func FuzzEncrypt(f *testing.F) {
	for _, entries := range []string{
		"/V 1 /R 2", "/V 2 /R 3 /Length 128", aes256,
		"/V 4 /R 4 /StmF /A /StrF /B /EFF /A /EncryptMetadata false /CF << /A << /CFM /AESV2 >> /B << /CFM /V2 /Length 5 >> >>",
	} {
		dictionary, e := newEncryption(f, entries, "-4")
		for _, body := range []string{"<< /Title (text) /Kids [<00> << /Contents (x) /ByteRange [] >>] >>", streamBody("/Filter /Crypt /DecodeParms << /Name /Identity >>", []byte("x"))} {
			object, err := e.encryptObject(Ref{Num: 3}, []byte(body))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(dictionary, string(object))
		}
	}
	f.Fuzz(func(t *testing.T, dictionary, object string) {
		b := newBuilder()
		b.object(1, "<< /Type /Catalog /Pages 2 0 R /Lang (is) >>")
		b.object(2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
		b.object(3, object)
		b.object(4, dictionary)
		content := b.table(5, "/Root 1 0 R /Encrypt 4 0 R /ID [<0102> <0304>]")
		if err := readEverything(content); err != nil && sentinelOf(err) == nil {
			t.Fatalf("error of no kind: %v", err)
		}
		file, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		checkSourceSurvives(t, file, content)
	})
}

// checkSourceSurvives writes an object again with the text that it has: it still has it then.
func checkSourceSurvives(t *testing.T, f *File, content []byte) {
	ref := Ref{Num: 3}
	source, err := f.Source(ref)
	if err != nil || ref == f.encryption.dictRef {
		return
	}
	u := f.NewUpdate()
	u.Set(ref, source)
	appended, _, err := u.Bytes()
	if err != nil {
		return
	}
	again, err := mustOpen(t, append(content, appended...)).Source(ref)
	if err != nil {
		t.Fatalf("unreadable behind the update: %v", err)
	}
	before, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	after, err := Parse(again)
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Fatalf("%q has become %q: %v", source, again, err)
	}
}
