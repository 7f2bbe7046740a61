package pdflint

import (
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
