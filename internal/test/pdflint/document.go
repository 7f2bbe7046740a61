package pdflint

import (
	"encoding/asn1"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkCatalog checks the entries of the catalog.
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

// checkExtension checks that the extension dictionaries are direct (7.12.2), unless those of the
// original file were not. The file has to be of version 1.7, the BaseVersion: an extension would
// contradict an earlier version, and a later one does not need it.
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

// version returns the later one of the versions in the header and the catalog (7.2.2).
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

// addsValidationData reports whether the increment adds only validation data to the document security store,
// and no signature (12.8.4.3).
func (l *linter) addsValidationData() bool {
	_, _, signs := l.signature()
	return !signs && !reflect.DeepEqual(validationData(l.old), validationData(l.new))
}

// storeKeys are the arrays of a document security store (Table 261).
var storeKeys = []pdf.Name{"Certs", "OCSPs", "CRLs"}

// validationData returns the arrays of the document security store.
func validationData(file *pdf.File) map[pdf.Name]pdf.Array {
	arrays := make(map[pdf.Name]pdf.Array)
	_, root, err := file.Catalog()
	if err != nil {
		return arrays
	}
	store, _ := file.Dict(root["DSS"])
	for _, key := range storeKeys {
		if array, err := file.Array(store[key]); err == nil && len(array) > 0 {
			arrays[key] = array
		}
	}
	return arrays
}

// Permitted changes of an increment with validation data.
var (
	store = entries(map[pdf.Name]change{"Certs": moved, "OCSPs": moved, "CRLs": moved, "VRI": gained})

	storeCatalog = entries(map[pdf.Name]change{"DSS": store, "Extensions": developerExtensions})
)

// moved permits new elements at the end of an array, which becomes a direct object if it was an indirect one: that may
// be an array of a VRI dictionary too, and does not change.
func moved(l *linter, was, is pdf.Object) []string {
	if value, err := l.old.Array(was); err == nil && value != nil {
		was = value
	}
	return grown(l, was, is)
}

// permitStore permits changes to the catalog, the store and the extensions.
func (l *linter) permitStore(changes permitted, root pdf.Ref, dict pdf.Dict) {
	changes.add(root, storeCatalog)
	l.permitExtensions(changes, dict)
	l.permit(changes, dict["DSS"], store)
	if was, err := l.old.Dict(dict["DSS"]); err == nil {
		l.permit(changes, was["VRI"], gained)
	}
}

// maxValidationData limits the size in bytes of one certificate, OCSP response or CRL.
const maxValidationData = 64 << 20

// checkStore checks that each new item of the store is a new stream with one DER value that the
// store does not have.
func (l *linter) checkStore() {
	was := validationData(l.old)
	for key, array := range validationData(l.new) {
		seen := make(map[string]bool)
		for i, item := range array {
			der := l.stored(item)
			if i >= len(was[key]) {
				var value asn1.RawValue
				rest, err := asn1.Unmarshal(der, &value)
				if ref, ok := item.(pdf.Ref); !ok || !l.newObject(ref) || err != nil || len(rest) > 0 || value.Tag != asn1.TagSequence {
					l.fault(Store, "%s: %v is no new stream with one DER value", key, item)
				}
				if seen[string(der)] {
					l.fault(Store, "%s: %v is there already", key, item)
				}
			}
			seen[string(der)] = true
		}
	}
	l.checkRelated()
}

// relatedKeys maps the arrays of an entry of VRI (Table 262) to the arrays of the store that have
// their items.
var relatedKeys = map[pdf.Name]pdf.Name{"Cert": "Certs", "OCSP": "OCSPs", "CRL": "CRLs"}

// checkRelated checks that new entries of VRI have the name of a digest, and that the store has
// their items.
func (l *linter) checkRelated() {
	stored := validationData(l.new)
	before := related(l.old)
	for name, entry := range related(l.new) {
		if _, old := before[name]; old {
			continue
		}
		if !relatedName.MatchString(string(name)) {
			l.fault(Store, "VRI: %.64q is no digest", string(name))
		}
		dict, err := l.new.Dict(entry)
		if err != nil {
			l.fault(Store, "VRI: %s: %v", name, err)
		}
		for key, in := range relatedKeys {
			items, err := l.new.Array(dict[key])
			outside := func(item pdf.Object) bool { return !slices.Contains(stored[in], item) }
			if err != nil || slices.ContainsFunc(items, outside) {
				l.fault(Store, "VRI: %s: %s is not in the store", name, key)
			}
		}
	}
}

var relatedName = regexp.MustCompile(`^[0-9A-F]{40}$`)

// related returns the VRI dictionary.
func related(file *pdf.File) pdf.Dict {
	_, root, err := file.Catalog()
	if err != nil {
		return nil
	}
	store, _ := file.Dict(root["DSS"])
	entries, _ := file.Dict(store["VRI"])
	return entries
}

// stored returns the payload of a stream, or nil.
func (l *linter) stored(item pdf.Object) []byte {
	stream, err := l.new.StreamObject(item)
	if err != nil || stream == nil {
		return nil
	}
	der, _ := l.new.Stream(stream, maxValidationData)
	return der
}
