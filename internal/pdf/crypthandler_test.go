package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const aes256 = "/V 5 /R 6 /StmF /C /StrF /C /CF << /C << /CFM /AESV3 >> >>"

// openWith opens a file with an encryption dictionary.
func openWith(dictionary string) (*File, error) {
	b := newBuilder()
	b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
	b.object(2, "<< /Type /Pages /Kids [] /Count 0 >>")
	b.object(90, dictionary)
	content := b.table(91, "/Root 1 0 R /Encrypt 90 0 R /ID [<0102> <0304>]")
	return Open(bytes.NewReader(content), int64(len(content)))
}

// 7.6.2, 7.6.4: what cannot be decrypted is refused by name.
func TestEncryptionRefused(t *testing.T) {
	rc4, _ := newEncryption(t, "/V 2 /R 3 /Length 128", "-4")
	aes, _ := newEncryption(t, aes256, "-4")
	replaced := func(dictionary, old, new string) string {
		if !strings.Contains(dictionary, old) {
			t.Fatalf("no %s in %s", old, dictionary)
		}
		return strings.Replace(dictionary, old, new, 1)
	}
	for name, test := range map[string]struct {
		dictionary string
		want       error
		text       string
	}{
		"no dictionary":         {"null", ErrEncrypted, "there is none"},
		"not a dictionary":      {"[1]", ErrDamaged, "dictionary expected"},
		"another handler":       {"<< /Filter /Adobe.PubSec /SubFilter /adbe.pkcs7.s5 /V 4 >>", ErrEncrypted, `"Adobe.PubSec"`},
		"version 3":             {replaced(rc4, "/V 2", "/V 3"), ErrEncrypted, "version 3"},
		"no version":            {replaced(rc4, "/V 2", ""), ErrEncrypted, "version 0"},
		"revision 7":            {replaced(aes, "/R 6", "/R 7"), ErrEncrypted, "revision 7"},
		"revision 4, version 5": {replaced(aes, "/R 6", "/R 4"), ErrEncrypted, "revision 4"},
		"revision 6, version 2": {replaced(rc4, "/R 3", "/R 6"), ErrEncrypted, "revision 6"},
		"unknown method":        {replaced(aes, "/AESV3", "/AESV4"), ErrEncrypted, `"AESV4"`},
		"method None":           {replaced(aes, "/AESV3", "/None"), ErrEncrypted, `"None"`},
		"unknown crypt filter":  {replaced(aes, "/StmF /C", "/StmF /D"), ErrEncrypted, `crypt filter "D"`},
		"a password, MD5":       {replaced(rc4, "/P -4", "/P -8"), ErrEncrypted, "needs a password"},
		"a password, AES-256":   {replaced(aes, "/U <", "/U <00"), ErrEncrypted, "needs a password"},
		"short U":               {replaced(aes, "/U <", "/U <00> /Unused <"), ErrDamaged, "/U of 1 bytes"},
		"no O":                  {replaced(rc4, "/O", "/Unused"), ErrDamaged, "/O of 0 bytes"},
		"no Perms":              {replaced(aes, "/Perms", "/Unused"), ErrDamaged, "/Perms of 0 bytes"},
		"key of 32 bits":        {replaced(rc4, "/Length 128", "/Length 4"), ErrDamaged, "length 4"},
		"key of 136 bits":       {replaced(rc4, "/Length 128", "/Length 136"), ErrDamaged, "length 17"},
		"key of 44 bits":        {replaced(rc4, "/Length 128", "/Length 44"), ErrDamaged, "length 44"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := openWith(test.dictionary); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want %v with %s", err, test.want, test.text)
			}
		})
	}
}

// Table 22, and 7.6.4.4.12 for what Perms says.
func TestPermissions(t *testing.T) {
	const rc4, aes = "/V 2 /R 3 /Length 128", aes256
	bit := func(ns ...int) string {
		p := uint32(0)
		for _, n := range ns {
			p |= 1 << (n - 1)
		}
		return fmt.Sprint(int32(p))
	}
	for name, test := range map[string]struct {
		entries, p string
		want       Permissions
	}{
		"none":                 {rc4, "0", Permissions{}},
		"all":                  {rc4, "-4", Permissions{true, true, true}},
		"all, unsigned":        {rc4, "4294967292", Permissions{true, true, true}},
		"bit 4":                {rc4, bit(4), Permissions{Modify: true}},
		"bit 6":                {rc4, bit(6), Permissions{Annotate: true}},
		"bit 9":                {rc4, bit(9), Permissions{FillIn: true}},
		"bits 3, 5, 10 to 12":  {rc4, bit(3, 5, 10, 11, 12), Permissions{}},
		"revision 2 has no 9":  {"/V 1 /R 2", bit(4, 9), Permissions{Modify: true}},
		"revision 6, all":      {aes, "-4", Permissions{true, true, true}},
		"revision 6, bits 4+9": {aes, bit(4, 9), Permissions{Modify: true, FillIn: true}},
	} {
		t.Run(name, func(t *testing.T) {
			dictionary, _ := newEncryption(t, test.entries, test.p)
			f, err := openWith(dictionary)
			if err != nil {
				t.Fatal(err)
			}
			if got, encrypted := f.Permissions(); got != test.want || !encrypted {
				t.Errorf("%+v, %v; want %+v", got, encrypted, test.want)
			}
		})
	}
	if got, encrypted := mustOpen(t, tableFile()).Permissions(); encrypted {
		t.Errorf("a file that is not encrypted: %+v", got)
	}
}

// P can be changed by anybody, Perms only by those who have a key.
func TestPermissionsThatDoNotAgree(t *testing.T) {
	narrow, _ := newEncryption(t, aes256, "-4")
	wide, _ := newEncryption(t, aes256, "32") // bit 6
	for name, test := range map[string]struct {
		dictionary string
		want       Permissions
	}{
		"more in P":              {strings.Replace(wide, "/P 32", "/P -4", 1), Permissions{Annotate: true}},
		"more in Perms":          {strings.Replace(narrow, "/P -4", "/P 8", 1), Permissions{Modify: true}},
		"Perms does not decrypt": {strings.Replace(narrow, "/Perms <", "/Perms <00", 1), Permissions{}},
	} {
		f, err := openWith(test.dictionary)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := f.Permissions(); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// What is no ciphertext is damage; what is empty need not be one.
func TestDamagedCiphertext(t *testing.T) {
	_, e := newEncryption(t, aes256, "-4")
	good, err := e.cipher(aes256Cipher, Ref{}).encrypt([]byte("sixteen bytes ..and some more"))
	if err != nil {
		t.Fatal(err)
	}
	unpadded := good[:len(good)-16]
	dictionary, _ := newEncryption(t, aes256, "-4")
	for name, test := range map[string]struct {
		ciphertext []byte
		want       string
		damaged    bool
	}{
		"whole":                  {good, "sixteen bytes ..and some more", false},
		"without padding":        {unpadded, "", true},
		"not of whole blocks":    {good[:len(good)-1], "", true},
		"of less than one block": {good[:3], "", true},
		"empty":                  {nil, "", false},
		"a vector and no more":   {good[:16], "", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder()
			b.object(4, string(HexString(test.ciphertext)))
			b.object(5, streamBody("", test.ciphertext))
			f := mustOpen(t, b.table(6, "/Root 1 0 R /Encrypt "+dictionary))
			if s, err := f.Bytes(Ref{Num: 4}); string(s) != test.want || errors.Is(err, ErrDamaged) != test.damaged {
				t.Errorf("string %q, %v", s, err)
			}
			stream, err := f.StreamObject(Ref{Num: 5})
			if err != nil {
				t.Fatal(err)
			}
			if s, err := f.Stream(stream, 100); err == nil && string(s) != test.want || errors.Is(err, ErrDamaged) != test.damaged {
				t.Errorf("stream %q, %v", s, err)
			}
		})
	}
}

// The key of an encrypted file depends on ID, which stays what it was: none where there is none.
func TestEncryptedFileIdentifier(t *testing.T) {
	for entry, id := range map[string][]byte{"": nil, "/ID [<> <01>]": nil, "/ID [<0102>]": {1, 2}, "/ID [<0102> <0304>]": {1, 2}} {
		t.Run(entry, func(t *testing.T) {
			dictionary, _ := newEncryptionWithID(t, "/V 2 /R 3 /Length 128", "-4", id)
			b := newBuilder()
			b.object(1, "<< /Type /Catalog /Pages 2 0 R >>")
			b.object(2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
			b.object(3, "<< /Type /Page /Parent 2 0 R >>")
			content := b.table(4, entry+" /Root 1 0 R /Encrypt "+dictionary)
			updated, err := resetCatalog(mustOpen(t, content), bytes.Clone(content))
			if err != nil {
				t.Fatal(err)
			}
			if got := mustOpen(t, updated).permanentID(); !bytes.Equal(got, id) {
				t.Errorf("%x, want %x", got, id)
			}
		})
	}
}
