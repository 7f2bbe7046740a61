package pades_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/internal/test/validators"
)

func (f *resignedFile) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

func judgeByPDFSig(t *testing.T, files []*resignedFile) {
	t.Helper()
	for _, f := range files {
		if f.refusal != nil {
			continue
		}
		before, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.before)
		if err != nil { // such as a file that has to be repaired
			before = nil
		}
		after, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.after)
		if err != nil {
			f.fault("pdfsig cannot read the result: %v", err)
			continue
		}
		name := func(s validators.PDFSigSignature) string { return s.Field }
		kept, added := paired(before, after, name)
		for i, was := range before {
			switch {
			case !was.Valid():
				continue
			case kept[i] == nil:
				f.fault("pdfsig: %q is gone", was.Field)
			case !kept[i].Valid():
				f.fault("pdfsig: %q was valid: %s", was.Field, kept[i].Signature)
			default:
				f.kept[byPDFSig]++
			}
			f.valid[byPDFSig]++
		}
		if len(added) != 1 || !added[0].Valid() || !added[0].Total {
			f.fault("pdfsig of ours: %+v", added)
		}
	}
}

func judgeByPyHanko(t *testing.T, files []*resignedFile) {
	t.Helper()
	files = slices.DeleteFunc(slices.Clone(files), func(f *resignedFile) bool { return f.refusal != nil })
	reports := func(path func(*resignedFile) string) []validators.PyHankoReport {
		var paths []string
		for _, f := range files {
			paths = append(paths, path(f))
		}
		return validators.PyHanko(t, nil, paths...)
	}
	before := reports(func(f *resignedFile) string { return f.before })
	after := reports(func(f *resignedFile) string { return f.after })
	control := reports(func(f *resignedFile) string { return f.control })
	for i, f := range files {
		f.compare(before[i], after[i], control[i])
	}
}

// compare is about files that pyHanko reads: it refuses some as they are.
func (f *resignedFile) compare(before, after, control validators.PyHankoReport) {
	if before.Error != "" {
		return
	}
	if after.Error != "" || after.Lenient != "" && strictlyRead(before) && strictlyRead(control) {
		f.fault("pyHanko: %s%s", after.Error, after.Lenient)
	}
	name := func(s validators.PyHankoSignature) string { return s.Field }
	kept, added := paired(before.Signatures, after.Signatures, name)
	blamed, _ := paired(before.Signatures, control.Signatures, name)
	for i, was := range before.Signatures {
		switch {
		case !unharmed(was):
			continue
		case kept[i] == nil:
			f.fault("pyHanko: %q is gone", was.Field)
		case unharmed(*kept[i]):
			f.kept[byPyHanko]++
		case blamed[i] != nil && sameBlame(*blamed[i], *kept[i]):
			f.exempt++
			f.notAnalysed = fmt.Sprintf("%q: %s", was.Field, cmp.Or(blamed[i].Error, blamed[i].ModificationLevel))
		default:
			f.fault("pyHanko: %q was valid: %+v", was.Field, *kept[i])
		}
		f.valid[byPyHanko]++
	}
	if len(added) != 1 || !unharmed(added[0]) || added[0].Coverage != "ENTIRE_FILE" || added[0].ModificationLevel != "NONE" {
		f.fault("pyHanko of ours: %+v", added)
	}
}

// sameBlame says that pyHanko holds against our revision what it holds against one that
// changes nothing, and nothing else.
func sameBlame(control, after validators.PyHankoSignature) bool {
	return !unharmed(control) && control.Intact == after.Intact && control.Valid == after.Valid &&
		control.Error == after.Error && control.ModificationLevel == after.ModificationLevel
}

func strictlyRead(r validators.PyHankoReport) bool {
	failed := func(s validators.PyHankoSignature) bool { return s.Error != "" }
	return r.Lenient == "" && !slices.ContainsFunc(r.Signatures, failed)
}

// unharmed says that a signature fits, and that later revisions did what it allows.
// pyHanko does not ask what a timestamp allows.
func unharmed(s validators.PyHankoSignature) bool {
	allowed := s.DocMDPOK || s.Type == "/DocTimeStamp"
	return s.Error == "" && s.Intact && s.Valid && s.ModificationLevel != "OTHER" && allowed
}

// paired finds each signature of before in after by its field, nil if it is not there, and
// returns what is left over.
func paired[S any](before, after []S, name func(S) string) (kept []*S, added []S) {
	added = slices.Clone(after)
	for _, was := range before {
		i := slices.IndexFunc(added, func(s S) bool { return name(s) == name(was) })
		if i < 0 {
			kept = append(kept, nil)
			continue
		}
		is := added[i]
		kept = append(kept, &is)
		added = slices.Delete(added, i, i+1)
	}
	return kept, added
}
