package pdf

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// encryptedFile builds an encrypted file that opens without a password. entries are those
// of the encryption dictionary but Filter, P and the strings; objects are given in plain.
func encryptedFile(t testing.TB, entries string, objects map[int]string) []byte {
	t.Helper()
	dictionary, e := newEncryption(t, entries, "-4")
	b := newBuilder()
	for _, num := range sortedKeys(objects) {
		body, err := e.encryptObject(Ref{Num: uint32(num)}, []byte(objects[num]))
		if err != nil {
			t.Fatal(err)
		}
		b.object(num, string(body))
	}
	b.object(90, dictionary)
	return b.table(91, "/Root 1 0 R /Info 6 0 R /Encrypt 90 0 R /ID [<0102> <0304>]")
}

// newEncryption makes an encryption dictionary for an empty user password, and what it
// describes, in a file whose ID begins with 0102.
func newEncryption(t testing.TB, entries, permissions string) (dictionary string, e *encryption) {
	t.Helper()
	return newEncryptionWithID(t, entries, permissions, []byte{1, 2})
}

// newEncryptionWithID follows the algorithms of 7.6.4.4.
func newEncryptionWithID(t testing.TB, entries, permissions string, id []byte) (dictionary string, e *encryption) {
	t.Helper()
	dictionary = "<< /Filter /Standard " + entries + " /P " + permissions
	blank := " /O <" + strings.Repeat("5a", 32) + ">"
	if strings.Contains(entries, "/V 5") {
		blank = " /O <" + strings.Repeat("5a", 48) + "> /OE <" + strings.Repeat("5b", 32) + ">"
	}
	o, err := Parse([]byte(dictionary + blank + " /U (" + strings.Repeat("u", 48) + ") /UE (" + strings.Repeat("e", 32) + ") /Perms (" + strings.Repeat("p", 16) + ") >>"))
	if err != nil {
		t.Fatal(err)
	}
	e = &encryption{file: &File{}, id: id}
	if err := e.readFilters(o.(Dict)); err != nil {
		t.Fatal(err)
	}
	h, err := e.standardHandler(o.(Dict))
	if err != nil {
		t.Fatal(err)
	}
	e.encryptMetadata = h.metadata
	if e.version == 5 {
		e.key = []byte("a key that has to have 32 bytes.")
		return dictionary + blank + aesEntries(t, h, e.key) + " >>", e
	}
	key := h.md5FileKey()
	u, err := h.userEntry(key)
	if err != nil {
		t.Fatal(err)
	}
	if e.key = key; e.version == 4 {
		e.key = append(key, make([]byte, 16-len(key))...)
	}
	u = append(u, make([]byte, 32-len(u))...)
	return fmt.Sprintf("%s%s /U %s >>", dictionary, blank, HexString(u)), e
}

// aesEntries are U, UE and Perms: Algorithms 8 and 10.
func aesEntries(t testing.TB, h standardHandler, key []byte) string {
	t.Helper()
	validation, keySalt := []byte("validate"), []byte("key salt")
	sum, err := h.hash(validation)
	if err != nil {
		t.Fatal(err)
	}
	intermediate, err := h.hash(keySalt)
	if err != nil {
		t.Fatal(err)
	}
	ue := slices.Clone(key)
	cipher.NewCBCEncrypter(block(t, intermediate), make([]byte, aes.BlockSize)).CryptBlocks(ue, ue)
	perms := []byte{byte(h.p), byte(h.p >> 8), byte(h.p >> 16), byte(h.p >> 24), 0xff, 0xff, 0xff, 0xff, 'T', 'a', 'd', 'b', 1, 2, 3, 4}
	block(t, key).Encrypt(perms, perms)
	return fmt.Sprintf(" /U %s /UE %s /Perms %s", HexString(slices.Concat(sum, validation, keySalt)), HexString(ue), HexString(perms))
}

func block(t testing.TB, key []byte) cipher.Block {
	t.Helper()
	b, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// secrets are the objects of a file with everything that encryption is about.
func secrets() map[int]string {
	return map[int]string{
		1: "<< /Type /Catalog /Pages 2 0 R /Metadata 5 0 R /Lang (is-IS) /AcroForm << /Fields [8 0 R] /SigFlags 3 >> >>",
		2: "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
		3: "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << >> /Annots [8 0 R 9 0 R] >>",
		4: streamBody("", []byte("0 0 m 99 99 l S")),
		5: streamBody("/Type /Metadata /Subtype /XML", []byte("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")),
		6: `<< /Title (Undirritun \(1\)) /Subject <feff00de006f> /Keywords () >>`,
		7: "<< /Type /Sig /Filter /Adobe.PPKLite /ByteRange [0 1 2 3] /Contents <00ff10> /Reason (Because) >>",
		8: "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature1) /V 7 0 R /Rect [0 0 0 0] /F 132 >>",
		9: "<< /Type /Annot /Subtype /Text /Contents (A note) /Rect [9 9 20 20] >>",
	}
}

// wantSecrets checks what the objects of secrets are, wherever a writer put them.
func wantSecrets(t *testing.T, f *File) {
	t.Helper()
	_, catalog, err := f.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	at := func(o Object, path ...Name) Object {
		for _, key := range path {
			dict, err := f.Dict(o)
			if err != nil {
				t.Fatal(err)
			}
			o = dict[key]
		}
		if array, err := f.Array(o); err == nil {
			return array[len(array)-1]
		}
		return o
	}
	text := func(want string, o Object) {
		t.Helper()
		if got, err := f.Bytes(o); err != nil || string(got) != want {
			t.Errorf("string %q, %v; want %q", got, err, want)
		}
	}
	payload := func(want string, o Object) {
		t.Helper()
		stream, err := f.StreamObject(o)
		if err != nil || stream == nil {
			t.Fatalf("stream %v: %v", o, err)
		}
		if got, err := f.Stream(stream, 1<<10); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("payload %q, %v; want %q", got, err, want)
		}
	}
	page, err := f.Page(1)
	if err != nil {
		t.Fatal(err)
	}
	info := f.Trailer()["Info"]
	text("Undirritun (1)", at(info, "Title"))
	text("\xfe\xff\x00\xde\x00o", at(info, "Subject"))
	text("", at(info, "Keywords"))
	text("is-IS", catalog["Lang"])
	text("A note", at(at(page.Dict, "Annots"), "Contents"))
	field := at(catalog, "AcroForm", "Fields")
	text("Signature1", at(field, "T"))
	text("Because", at(field, "V", "Reason"))
	text("\x00\xff\x10", at(field, "V", "Contents"))
	payload("0 0 m 99 99 l S", page.Dict["Contents"])
	payload("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>", catalog["Metadata"])
}
