package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Entries of encryption dictionaries.
const (
	rc4Of128 = "/V 2 /R 3 /Length 128"
	aesOf256 = "/V 5 /R 6 /StmF /C /StrF /C /CF << /C << /CFM /AESV3 >> >>"
	filters  = "/CF << /StdCF << /CFM /AESV2 /Length 16 >> /Old << /CFM /V2 /Length 128 >> /Short << /CFM /V2 /Length 5 >> >>"
)

// secretObjects returns the objects of a file with all that is encrypted or exempt from encryption.
func secretObjects() map[int]string {
	return map[int]string{
		1: "<< /Type /Catalog /Pages 2 0 R /Metadata 5 0 R /Lang (is-IS) /AcroForm << /Fields [8 0 R] /SigFlags 3 >> >>",
		2: pagesText,
		3: "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << >> /Annots [8 0 R 9 0 R] >>",
		4: streamBody("", "0 0 m 99 99 l S"),
		5: streamBody("/Type /Metadata /Subtype /XML", "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"),
		6: `<< /Title (Undirritun \(1\)) /Subject <feff00de006f> /Keywords () >>`,
		7: "<< /Type /Sig /Filter /Adobe.PPKLite /ByteRange [0 1 2 3] /Contents <00ff10> /Reason (Because) >>",
		8: "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature1) /V 7 0 R /Rect [0 0 0 0] /F 132 >>",
		9: "<< /Type /Annot /Subtype /Text /Contents (A note) /Rect [9 9 20 20] >>",
	}
}

// encryptedFile returns a file with objects, given in plain text, that are encrypted for the empty user password.
func encryptedFile(t testing.TB, entries string, objects map[int]string) []byte {
	t.Helper()
	dictionary, e := newEncryption(t, entries, "-4", "\x01\x02")
	b := newBuilder()
	for _, num := range slices.Sorted(maps.Keys(objects)) {
		b.object(num, string(must(e.encryptObject(Ref{Num: uint32(num)}, []byte(objects[num])))))
	}
	b.object(90, dictionary)
	return b.table("/Root 1 0 R /Info 6 0 R /Encrypt 90 0 R /ID [<0102> <0304>]")
}

// newEncryption returns an encryption dictionary for an empty user password, and the encryption that it describes
// (7.6.4.4). entries are all but Filter, P and the strings.
func newEncryption(t testing.TB, entries, permissions, id string) (dictionary string, e *encryption) {
	t.Helper()
	ownerLength := 32
	if strings.Contains(entries, "/V 5") {
		ownerLength = 48
	}
	dictionary = "<< /Filter /Standard " + entries + " /P " + permissions + " /O <" + strings.Repeat("5a", ownerLength) + ">"
	dummy := fmt.Sprintf(" /U (%048d) /UE (%032d) /Perms (%016d) >>", 0, 0, 0)
	dict := must(Parse([]byte(dictionary + dummy))).(Dict)
	e = &encryption{file: &File{}, id: []byte(id)}
	if err := e.readFilters(dict); err != nil {
		t.Fatal(err)
	}
	h := must(e.standardHandler(dict))
	e.encryptMetadata = h.metadata
	if e.version == 5 { // Algorithms 8 to 10
		const validationSalt, keySalt = "validate", "key salt"
		e.key = []byte("This file encryption key has 32!")
		block := must(aes.NewCipher(must(h.hash([]byte(keySalt)))))
		ue := slices.Clone(e.key)
		cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(ue, ue)
		perms := []byte{byte(h.p), byte(h.p >> 8), byte(h.p >> 16), byte(h.p >> 24), 0xff, 0xff, 0xff, 0xff, 'T', 'a', 'd', 'b', 1, 2, 3, 4}
		must(aes.NewCipher(e.key)).Encrypt(perms, perms)
		u := string(must(h.hash([]byte(validationSalt)))) + validationSalt + keySalt
		return fmt.Sprintf("%s /OE <%s> /U <%x> /UE <%x> /Perms <%x> >>", dictionary, strings.Repeat("5b", 32), u, ue, perms), e
	}
	e.key = h.md5FileKey()
	u := must(h.userEntry(e.key))
	if e.version == 4 {
		e.key = append(e.key, make([]byte, 16-len(e.key))...)
	}
	return fmt.Sprintf("%s /U <%x> >>", dictionary, append(u, make([]byte, 32-len(u))...)), e
}

// TestEncryptedFiles reads and updates encrypted files. qpdf has to read the updates, except where it assumes another
// key length. qpdf 11 made the files in testdata from a file with the objects of secretObjects:
//
//	qpdf --allow-weak-crypto [--object-streams=generate] --encrypt "" owner 256 [options] -- plain.pdf R6-aes-256.pdf
func TestEncryptedFiles(t *testing.T) {
	files := map[string][]byte{}
	paths, _ := filepath.Glob(filepath.Join("testdata", "encrypted", "*.pdf"))
	for _, path := range paths {
		files[filepath.Base(path)] = must(os.ReadFile(path))
	}
	for name, entries := range map[string]string{
		"version 1":                                 "/V 1 /R 2",
		"version 2, 64 bits":                        "/V 2 /R 3 /Length 64",
		"version 2, Length in bytes":                "/V 2 /R 3 /Length 16",
		"version 2, default Length, unlike in qpdf": "/V 2 /R 3",
		"version 4, 40 bits, unlike in qpdf":        "/V 4 /R 4 /StmF /Short /StrF /Short " + filters,
		"version 4, RC4 for streams":                "/V 4 /R 4 /StmF /Old /StrF /StdCF " + filters,
		"version 4, RC4 for strings":                "/V 4 /R 4 /StmF /StdCF /StrF /Old " + filters,
		"version 4, Identity for streams":           "/V 4 /R 4 /StmF /Identity /StrF /StdCF " + filters,
		"version 4, no filter for strings":          "/V 4 /R 4 /StmF /StdCF " + filters,
		"version 4, plain metadata":                 "/V 4 /R 4 /EncryptMetadata false /StmF /StdCF /StrF /StdCF " + filters,
		"version 5, revision 5":                     strings.Replace(aesOf256, "/R 6", "/R 5", 1),
		"version 5, revision 6":                     aesOf256,
	} {
		files[name] = encryptedFile(t, entries, secretObjects())
	}
	plain := newBuilder()
	for num, body := range secretObjects() {
		plain.object(num, body)
	}
	plainFile := plain.table("/Info 6 0 R")
	plainUpdated, _ := updateSecrets(t, plainFile)
	for name, content := range files {
		t.Run(name, func(t *testing.T) {
			expect(t, "document", document(t, plainFile))(document(t, content), nil)
			updated, signature := updateSecrets(t, content)
			expect(t, "updated document", document(t, plainUpdated))(document(t, updated), nil)
			f, appended := mustOpen(t, updated), updated[len(content):]
			if !bytes.Contains(appended, []byte(newSignature[:strings.Index(newSignature, "/Reason")])) {
				t.Errorf("the signature dictionary is not the same up to its Contents in %q", appended)
			}
			expect(t, "signature dictionary", newSignature)(f.Source(signature))
			for _, text := range []string{"New ", "Agreed", "down below", "beside it", "Undirritun"} {
				if f.encryption.strings != identity && bytes.Contains(appended, []byte(text)) {
					t.Errorf("the string %q is not encrypted", text)
				}
			}
			if f.encryption.streams != identity && bytes.Contains(appended, []byte("a payload")) {
				t.Error("the payload is not encrypted")
			}
			if strings.Contains(name, "qpdf") {
				return
			}
			checkWithQPDF(t, updated)
			output, err := qpdf(t, updated, "--decrypt", "--qdf", "--object-streams=disable", "-")
			if err != nil {
				t.Fatalf("qpdf --decrypt: %v\n%.2000s", err, output)
			}
			for _, text := range []string{"(beside it)", "a payload of some bytes", "<616263>", "(Agreed)", "<44e96ae0>", "(is-IS)", "(Because)"} {
				if !bytes.Contains(output, []byte(text)) {
					t.Errorf("the output of qpdf has no %q", text)
				}
			}
		})
	}
}

// newSignature is a signature dictionary. Its Contents must not be encrypted.
const newSignature = "<< /Type /Sig /ByteRange [0 0 0 0]   /Contents <616263> /Reason (Agreed) /Nested [<< /Deep (down below) >>] >>"

// updateSecrets updates a file with the objects of secretObjects: it changes the catalog and the Info, and adds
// newSignature and a stream.
func updateSecrets(t *testing.T, content []byte) (updated []byte, signature Ref) {
	t.Helper()
	f := mustOpen(t, content)
	u := f.NewUpdate()
	signature = u.Add([]byte(newSignature + " % a comment"))
	stream := u.Add([]byte(streamBody("/Note (beside it)", "a payload of some bytes")))
	pieces := fmt.Sprintf("<< /Stream %s /Sig %s /Text (D\\351j\\340) >>", stream, signature)
	for _, change := range []struct{ object, key, value string }{{"Info", "Author", `(New \(author\))`}, {"Root", "PieceInfo", pieces}} {
		ref := f.Trailer()[Name(change.object)].(Ref)
		u.Set(ref, must(SetKey(must(u.Source(ref)), Name(change.key), []byte(change.value))))
	}
	return apply(t, content, u), signature
}

// document returns the catalog and the Info of a file, with values instead of references.
func document(t *testing.T, content []byte) Object {
	t.Helper()
	f := mustOpen(t, content)
	d := expand(t, f, Dict{"Root": f.Trailer()["Root"], "Info": f.Trailer()["Info"]})
	delete(d.(Dict)["Root"].(Dict), "Extensions") // qpdf adds them for revisions 5 and 6
	return d
}

// expand replaces references in an object by their objects, and streams by an array of their Note and their payload.
// On a cycle, it replaces a reference by null.
func expand(t *testing.T, f *File, o Object, path ...Ref) Object {
	t.Helper()
	if ref, ok := o.(Ref); ok {
		if slices.Contains(path, ref) {
			return nil
		}
		path = append(slices.Clip(path), ref)
	}
	o = must(f.Resolve(o))
	switch o := o.(type) {
	case *Stream:
		return Array{o.Dict["Note"], String(bytes.TrimSpace(must(f.Stream(o, 1<<10))))}
	case Array:
		items := make(Array, len(o))
		for i := range o {
			items[i] = expand(t, f, o[i], path...)
		}
		return items
	case Dict:
		entries := Dict{}
		for key := range o {
			entries[key] = expand(t, f, o[key], path...)
		}
		return entries
	}
	return o
}

// TestStreamsOwnCryptFilter checks streams that name their crypt filter (7.4.10), and embedded files.
func TestStreamsOwnCryptFilter(t *testing.T) {
	objects := secretObjects()
	streams := []struct {
		body, payload string // the payload is plain text
		want          string
		encrypted     bool
	}{
		{"/Filter [/Crypt /ASCIIHexDecode] /DecodeParms [<< /Name /Identity >> null]", "706c61696e>", "plain", false},
		{"/Filter /Crypt /DecodeParms << /Name /Old >>", "other filter", "other filter", true},
		{"/Filter /Crypt", "no name", "no name", false},
		{"/Type /EmbeddedFile", "embedded file", "embedded file", false},
		{"/Type /EmbeddedFile /Filter [/Crypt] /DecodeParms [<< /Name /StdCF >>]", "its own filter", "its own filter", true},
	}
	for i, stream := range streams {
		objects[10+i] = streamBody(stream.body, stream.payload)
	}
	content := encryptedFile(t, "/V 4 /R 4 /StmF /StdCF /StrF /StdCF /EFF /Identity "+filters, objects)
	f := mustOpen(t, content)
	for i, stream := range streams {
		expect(t, stream.body, Array{nil, String(stream.want)})(expand(t, f, Ref{Num: uint32(10 + i)}), nil)
		if plain := bytes.Contains(content, []byte("\n"+stream.payload+"\n")); plain == stream.encrypted {
			t.Errorf("%s: the payload is plain text: %t", stream.body, plain)
		}
	}
	expect(t, "Crypt in a file that is not encrypted", ErrUnsupported)(decodeStream(t, "/Filter [/Crypt]", "", 9))
}

// openWithEncryption opens a file with an encryption dictionary.
func openWithEncryption(dictionary string) (*File, error) {
	b := newBuilder(catalogText, pagesText, pageText)
	b.object(90, dictionary)
	return open(b.table("/Encrypt 90 0 R /ID [<0102> <0304>]"))
}

// TestEncryptionRefused checks the errors for encryption dictionaries that cannot be used (7.6.2, 7.6.4).
func TestEncryptionRefused(t *testing.T) {
	rc4, _ := newEncryption(t, rc4Of128, "-4", "\x01\x02")
	aes, _ := newEncryption(t, aesOf256, "-4", "\x01\x02")
	for name, test := range map[string]struct {
		dictionary, old, new string
		want                 error
		text                 string
	}{
		"dictionary is null":             {"null", "", "", ErrEncrypted, "it is null"},
		"dictionary is an array":         {"[1]", "", "", ErrDamaged, "dictionary expected"},
		"unknown security handler":       {"<< /Filter /Adobe.PubSec /SubFilter /adbe.pkcs7.s5 /V 4 >>", "", "", ErrEncrypted, `"Adobe.PubSec"`},
		"version 3":                      {rc4, "/V 2", "/V 3", ErrEncrypted, "version 3"},
		"revision 7":                     {aes, "/R 6", "/R 7", ErrEncrypted, "revision 7"},
		"revision 4 in version 5":        {aes, "/R 6", "/R 4", ErrEncrypted, "revision 4"},
		"revision 6 in version 2":        {rc4, "/R 3", "/R 6", ErrEncrypted, "revision 6"},
		"unknown method":                 {aes, "/AESV3", "/AESV4", ErrEncrypted, `"AESV4"`},
		"unknown crypt filter":           {aes, "/StmF /C", "/StmF /D", ErrEncrypted, `crypt filter "D"`},
		"password needed, revision 3":    {rc4, "/P -4", "/P -8", ErrEncrypted, "needs a password"},
		"password needed, revision 6":    {aes, "/U <", "/U <00", ErrEncrypted, "needs a password"},
		"U is too short":                 {aes, "/U <", "/U <00> /Unused <", ErrDamaged, "/U of 1 bytes"},
		"O is missing":                   {rc4, "/O", "/Unused", ErrDamaged, "/O of 0 bytes"},
		"Perms is missing":               {aes, "/Perms", "/Unused", ErrDamaged, "/Perms of 0 bytes"},
		"key of 32 bits":                 {rc4, "/Length 128", "/Length 4", ErrDamaged, "length 4"},
		"key of 136 bits":                {rc4, "/Length 128", "/Length 136", ErrDamaged, "length 17"},
		"key length is no multiple of 8": {rc4, "/Length 128", "/Length 44", ErrDamaged, "length 44"},
	} {
		dictionary := strings.Replace(test.dictionary, test.old, test.new, 1)
		if _, err := openWithEncryption(dictionary); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: error %v, want %v with %s", name, err, test.want, test.text)
		}
	}
}

// TestPermissions checks the bits of P (Table 22). From revision 5 on, Perms has the same bits in encrypted form, and
// only what both permit is permitted (7.6.4.4.12).
func TestPermissions(t *testing.T) {
	const allBits, bit4, bit6, bit9, others = "-4", "8", "32", "256", "3604" // others: bits 3, 5, 10, 11 and 12
	for name, test := range map[string]struct {
		entries, p, old, new string
		want                 Permissions
	}{
		"no bits":                   {rc4Of128, "0", "", "", Permissions{}},
		"all bits":                  {rc4Of128, allBits, "", "", Permissions{true, true, true}},
		"all bits, unsigned":        {rc4Of128, "4294967292", "", "", Permissions{true, true, true}},
		"bit 4":                     {rc4Of128, bit4, "", "", Permissions{Modify: true}},
		"bit 6":                     {rc4Of128, bit6, "", "", Permissions{Annotate: true}},
		"bit 9":                     {rc4Of128, bit9, "", "", Permissions{FillIn: true}},
		"other bits":                {rc4Of128, others, "", "", Permissions{}},
		"bit 9 in revision 2":       {"/V 1 /R 2", bit9, "", "", Permissions{}},
		"all bits in revision 6":    {aesOf256, allBits, "", "", Permissions{true, true, true}},
		"P has more than Perms":     {aesOf256, bit6, "/P 32", "/P -4", Permissions{Annotate: true}},
		"Perms has more than P":     {aesOf256, allBits, "/P -4", "/P 8", Permissions{Modify: true}},
		"Perms cannot be decrypted": {aesOf256, allBits, "/Perms <", "/Perms <00", Permissions{}},
	} {
		dictionary, _ := newEncryption(t, test.entries, test.p, "\x01\x02")
		f := must(openWithEncryption(strings.Replace(dictionary, test.old, test.new, 1)))
		if got, encrypted := f.Permissions(); got != test.want || !encrypted {
			t.Errorf("%s: got %+v, encrypted %t; want %+v", name, got, encrypted, test.want)
		}
	}
	if got, encrypted := mustOpen(t, tableFile()).Permissions(); encrypted {
		t.Errorf("file without encryption: got %+v", got)
	}
}

// TestDamagedCiphertext checks strings and streams that are not AES in CBC mode with padding. Some writers do not pad
// empty texts.
func TestDamagedCiphertext(t *testing.T) {
	const text = "sixteen bytes ..and some more"
	dictionary, e := newEncryption(t, aesOf256, "-4", "")
	good := must(e.cipher(aes256Cipher, Ref{}).encrypt([]byte(text)))
	for name, test := range map[string]struct {
		ciphertext []byte
		want       any
	}{
		"correct":                        {good, text},
		"padding is missing":             {good[:len(good)-16], ErrDamaged},
		"last block is incomplete":       {good[:len(good)-1], ErrDamaged},
		"first block is incomplete":      {good[:3], ErrDamaged},
		"empty":                          {nil, ""},
		"only the initialization vector": {good[:16], ""},
	} {
		f := mustOpen(t, newBuilder(string(HexString(test.ciphertext)), streamBody("", string(test.ciphertext))).table("/Encrypt "+dictionary))
		expect(t, name, test.want)(f.Bytes(Ref{Num: 1}))
		stream := must(f.StreamObject(Ref{Num: 2}))
		expect(t, name, test.want)(f.Stream(stream, 100))
	}
}

// TestEncryptedFileIdentifier checks that an update keeps the first part of ID, on which the key depends, and adds no
// ID to a file without one.
func TestEncryptedFileIdentifier(t *testing.T) {
	for entry, id := range map[string]string{"": "", "/ID [<> <01>]": "", "/ID [<0102>]": "\x01\x02", "/ID [<0102> <0304>]": "\x01\x02"} {
		dictionary, _ := newEncryption(t, rc4Of128, "-4", id)
		content := newBuilder(catalogText, pagesText, pageText).table(entry + " /Encrypt " + dictionary)
		expect(t, entry, id)(mustOpen(t, mustResetCatalog(t, content)).permanentID(), nil)
	}
}

// TestEncryptedUpdateRefuses checks which bodies cannot be encrypted.
func TestEncryptedUpdateRefuses(t *testing.T) {
	content := encryptedFile(t, aesOf256, secretObjects())
	for name, body := range map[string]string{
		"incomplete dictionary": "<< /T (",
		"two objects":           "(a) (b)",
		"Length is indirect":    "<< /Length 9 0 R >>\nstream\nabc\nendstream",
		"Length after the end":  "<< /Length 99 >>\nstream\nabc\nendstream",
		"Length before the end": "<< /Length 1 >>\nstream\nabc\nendstream",
		"Length is negative":    "<< /Length -1 >>\nstream\nabc\nendstream",
		"text after endstream":  "<< /Length 3 >>\nstream\nabc\nendstream 1",
	} {
		u := mustOpen(t, content).NewUpdate()
		u.Add([]byte(body))
		if _, _, err := u.Bytes(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error %v, want %v", name, err, ErrDamaged)
		}
	}
}

// TestRebuildEncryptedFile checks that an encrypted file is the same after it is rebuilt.
func TestRebuildEncryptedFile(t *testing.T) {
	objects := secretObjects()
	delete(objects, 7) // signed files are not rebuilt
	content := encryptedFile(t, aesOf256, objects)
	broken := moveStartxref(string(content))
	f := must(rebuild(broken))
	updated := must(resetCatalog(f, broken))
	expect(t, "document", document(t, content))(document(t, updated), nil)
}

// FuzzEncrypt reads files with any encryption dictionary and object, and checks that the object is the same after an
// update that sets it to its present source text.
func FuzzEncrypt(f *testing.F) {
	for _, entries := range []string{
		"/V 1 /R 2", rc4Of128, aesOf256,
		"/V 4 /R 4 /StmF /A /StrF /B /EFF /A /EncryptMetadata false /CF << /A << /CFM /AESV2 >> /B << /CFM /V2 /Length 5 >> >>",
	} {
		dictionary, e := newEncryption(f, entries, "-4", "\x01\x02")
		for _, body := range []string{
			"<< /Title (text) /Kids [<00> << /Contents (x) /ByteRange [] >>] >>",
			streamBody("/Filter /Crypt /DecodeParms << /Name /Identity >>", "x"),
		} {
			object := must(e.encryptObject(Ref{Num: 3}, []byte(body)))
			f.Add(dictionary, string(object))
		}
	}
	f.Fuzz(func(t *testing.T, dictionary, object string) {
		content := newBuilder("<< /Type /Catalog /Pages 2 0 R /Lang (is) >>", pagesText, object, dictionary).
			table("/Encrypt 4 0 R /ID [<0102> <0304>]")
		checkError(t, readAll(content))
		file, err := open(content)
		ref := Ref{Num: 3}
		if err != nil || ref == file.encryption.dictRef {
			return
		}
		source, err := file.Source(ref)
		if err != nil {
			return
		}
		u := file.NewUpdate()
		u.Set(ref, source)
		appended, _, err := u.Bytes()
		if err != nil {
			return
		}
		again, err := mustOpen(t, append(content, appended...)).Source(ref)
		if err != nil {
			t.Fatalf("unreadable after the update: %v", err)
		}
		before := must(Parse(source))
		expect(t, "object after the update", before)(Parse(again))
	})
}
