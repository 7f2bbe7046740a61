package pdflint

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkCatalog checks what the increment says of the whole document.
func (l *linter) checkCatalog() {
	_, was, err1 := l.old.Catalog()
	_, is, err2 := l.new.Catalog()
	if err1 != nil || err2 != nil {
		l.fault(Kept, "the catalog cannot be read: %v, %v", err1, err2)
		return
	}
	const signaturesExist, appendOnly = 1, 2
	acroForm, _ := l.new.Dict(is["AcroForm"])
	if flags, _ := l.new.Int(acroForm["SigFlags"]); flags&signaturesExist == 0 || flags&appendOnly == 0 {
		l.fault(SigFlags, "%d", flags)
	}
	before, _ := l.old.Dict(was["Extensions"])
	after, _ := l.new.Dict(is["Extensions"])
	if !reflect.DeepEqual(before["ESIC"], after["ESIC"]) {
		l.checkExtension(was["Extensions"], is["Extensions"], after["ESIC"])
	}
}

// checkExtension: the dictionaries are direct (7.12.2), unless the file's own already was
// not. BaseVersion is 1.7: an older file would contradict itself, a newer one has what the
// extension brings.
func (l *linter) checkExtension(was, is, ours pdf.Object) {
	_, indirect := is.(pdf.Ref)
	if _, ok := ours.(pdf.Dict); !ok || indirect && was != is {
		l.fault(Extensions, "not direct: %v, %v", is, ours)
	}
	if v := l.version(); v != "1.7" {
		l.fault(Extensions, "in a file of version %s", v)
	}
}

var header = regexp.MustCompile(`%PDF-(\d\.\d)`)

// version is the later one of the header's and the catalog's (7.2.2).
func (l *linter) version() string {
	version := ""
	if m := header.FindSubmatch(l.base[:min(len(l.base), 2048)]); m != nil {
		version = string(m[1])
	}
	_, root, _ := l.old.Catalog()
	if v, _ := l.old.Name(root["Version"]); strings.Compare(string(v), version) > 0 {
		version = string(v)
	}
	return version
}

// shortest is the length from which on a string of printable characters is no ciphertext:
// one of so many bytes is printable once in a hundred thousand times.
const shortest = 12

// checkPlaintext: the strings of an encrypted file's increment are encrypted, but for the
// signature's Contents (7.6.2), and unless the file leaves strings as they are.
func (l *linter) checkPlaintext() {
	encryption, err := l.old.Dict(l.section.trailer["Encrypt"])
	if err != nil || encryption == nil || leavesStrings(encryption) {
		return
	}
	signature, _, _ := l.signature()
	for _, o := range l.objects {
		text, _, _ := o.split()
		value, _ := pdf.Parse(bytes.TrimSpace(text))
		for _, s := range texts(value, o.ref == signature.ref) {
			if len(s) >= shortest && printable(s) {
				l.fault(Plaintext, "%q in %s", s, o.ref)
			}
		}
	}
}

// leavesStrings says whether the crypt filter for strings is Identity (table 20, StrF).
func leavesStrings(encryption pdf.Dict) bool {
	if v, _ := encryption["V"].(pdf.Integer); v < 4 {
		return false
	}
	filter, ok := encryption["StrF"].(pdf.Name)
	return !ok || filter == "Identity"
}

func printable(s pdf.String) bool {
	return !strings.ContainsFunc(string(s), func(r rune) bool { return r < ' ' || r > '~' })
}

// texts are the strings of an object but a signature's Contents.
func texts(o pdf.Object, signature bool) (found []pdf.String) {
	switch o := o.(type) {
	case pdf.String:
		return []pdf.String{o}
	case pdf.Array:
		for _, item := range o {
			found = append(found, texts(item, false)...)
		}
	case pdf.Dict:
		for key, value := range o {
			if !signature || key != "Contents" {
				found = append(found, texts(value, false)...)
			}
		}
	}
	return found
}
