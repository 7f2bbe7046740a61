package pdflint

import (
	"encoding/asn1"
	"reflect"
	"regexp"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// embeds says whether the increment is one of validation data: it has no signature, and
// adds to the document security store (12.8.4.3). It changes nothing else.
func (l *linter) embeds() bool {
	_, _, signs := l.signature()
	return !signs && !reflect.DeepEqual(evidence(l.old), evidence(l.new))
}

// storeKeys are the arrays of a document security store (table 261).
var storeKeys = []pdf.Name{"Certs", "OCSPs", "CRLs"}

// evidence is what the store refers to, by its kind.
func evidence(file *pdf.File) map[pdf.Name]pdf.Array {
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

// What an increment of validation data may change.
var (
	store = entries(map[pdf.Name]change{"Certs": grown, "OCSPs": grown, "CRLs": grown, "VRI": gained})

	storeCatalog = entries(map[pdf.Name]change{"DSS": store, "Extensions": developerExtensions})
)

// playStore: the catalog, the store and its arrays, and the extension.
func (l *linter) playStore(roles parts, root pdf.Ref, dict pdf.Dict) {
	roles.add(root, storeCatalog)
	l.playExtensions(roles, dict)
	l.play(roles, dict["DSS"], store)
	if was, err := l.old.Dict(dict["DSS"]); err == nil {
		for _, key := range storeKeys {
			l.play(roles, was[key], grown)
		}
		l.play(roles, was["VRI"], gained)
	}
}

// maxEvidence bounds one certificate, response or list in bytes.
const maxEvidence = 64 << 20

// checkStore: what comes to the store is a stream of the increment with one DER value in
// it, and nothing comes twice.
func (l *linter) checkStore() {
	was := evidence(l.old)
	for key, array := range evidence(l.new) {
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

// relatedKeys are the arrays of an entry of the VRI dictionary (table 262), with those of
// the store that they are about.
var relatedKeys = map[pdf.Name]pdf.Name{"Cert": "Certs", "OCSP": "OCSPs", "CRL": "CRLs"}

// checkRelated: new entries of the VRI dictionary have a digest for a name, and list what
// is in the store.
func (l *linter) checkRelated() {
	stored := evidence(l.new)
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

// related is the VRI dictionary.
func related(file *pdf.File) pdf.Dict {
	_, root, err := file.Catalog()
	if err != nil {
		return nil
	}
	store, _ := file.Dict(root["DSS"])
	entries, _ := file.Dict(store["VRI"])
	return entries
}

// stored is what a stream holds; nil when it is none.
func (l *linter) stored(item pdf.Object) []byte {
	stream, err := l.new.StreamObject(item)
	if err != nil || stream == nil {
		return nil
	}
	der, _ := l.new.Stream(stream, maxEvidence)
	return der
}
