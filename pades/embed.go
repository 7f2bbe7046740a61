package pades

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// addToStore adds DER objects to the document security store (ISO 32000-2 12.8.4.3), each
// in a stream of its own. Whatever is in the store stays where it is.
func addToStore(file *pdf.File, update *pdf.Update, certificates, responses, lists [][]byte) error {
	store, err := securityStore(file)
	if err != nil {
		return err
	}
	added := []struct {
		key  pdf.Name
		refs []pdf.Ref
	}{{"Certs", addStreams(update, certificates)}, {"OCSPs", addStreams(update, responses)}, {"CRLs", addStreams(update, lists)}}
	patch := func(source []byte) (result []byte, err error) {
		for _, a := range added {
			changed, err := appendReferences(file, update, source, store, a.key, a.refs)
			if err != nil {
				return nil, err
			}
			if changed != nil {
				source, result = changed, changed
			}
		}
		return result, nil
	}
	if store != nil {
		return patchCatalog(file, update, "DSS", patch)
	}
	made, err := patch([]byte("<< /Type /DSS >>"))
	if err != nil || made == nil {
		return err
	}
	catalog, _, err := file.Catalog()
	if err != nil {
		return err
	}
	return setEntry(update, catalog, "DSS", []byte(update.Add(made).String()))
}

// appendReferences appends to the array under a key of a dictionary, given as its source
// and its value; nil when that dictionary's own source stays as it is.
func appendReferences(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, items []pdf.Ref) ([]byte, error) {
	if len(items) == 0 {
		return nil, nil
	}
	array, err := file.Array(dict[key])
	if err != nil {
		return nil, err
	}
	if array == nil {
		return pdf.SetKey(source, key, fmt.Appendf(nil, "%v", items)) // Go writes slices as PDF does arrays
	}
	return patchValue(file, update, source, dict, key, func(source []byte) (_ []byte, err error) {
		for _, item := range items {
			if source, err = pdf.AppendItem(source, []byte(item.String())); err != nil {
				return nil, err
			}
		}
		return source, nil
	})
}

func addStreams(update *pdf.Update, all [][]byte) []pdf.Ref {
	var refs []pdf.Ref
	for _, der := range all {
		refs = append(refs, update.Add(deflated(der)))
	}
	return refs
}

// deflated is the source of a stream.
func deflated(content []byte) []byte {
	var compressed bytes.Buffer
	w := zlib.NewWriter(&compressed)
	w.Write(content) // a bytes.Buffer takes everything
	w.Close()
	source := fmt.Appendf(nil, "<< /Filter /FlateDecode /Length %d >>\nstream\n", compressed.Len())
	return append(append(source, compressed.Bytes()...), "\nendstream"...)
}

// without returns what is new.
func without(all, old [][]byte) [][]byte {
	has := make(map[string]bool)
	for _, der := range old {
		has[string(der)] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(der []byte) bool { return has[string(der)] })
}
