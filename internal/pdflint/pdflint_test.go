package pdflint_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/internal/pdflint"
	"github.com/innsigli/innsigli/internal/pdftest"
	"github.com/innsigli/innsigli/internal/testenv"
)

// Every rule finds the increment that breaks it, and a good one breaks none.
func TestRules(t *testing.T) {
	s := newSigner(t)
	const catalog, page, acroForm = `/Lang \(en\) {61}`, `/Rotate 90 {61}`, `/NeedAppearances false {61}`
	tested := everyRule(t)
	objects, inline, stream := shape{}, shape{direct: true}, shape{kind: pdftest.Stream}
	for _, test := range []struct {
		rule  pdflint.Rule
		name  string
		file  shape
		spoil func(*increment)
	}{
		{pdflint.Prefix, "a byte of the file", objects, func(i *increment) { i.whole[20] ^= 1 }},
		{pdflint.LineEnd, "in a line with other things", objects, func(i *increment) {
			i.base = bytes.TrimRight(i.base, "\n")
			i.whole = slices.Concat(i.base, []byte(" "), i.whole[len(i.base)+1:])
		}},
		{pdflint.Startxref, "one off", objects, func(i *increment) {
			i.replace(`startxref\n\d+`, fmt.Sprintf("startxref\n%d", i.number(`startxref\n(\d+)`)+1))
		}},
		{pdflint.Startxref, "no marker", objects, func(i *increment) { i.replace(`%%EOF\n$`, "") }},
		{pdflint.SectionKind, "a table behind a stream", objects, func(i *increment) { i.base, i.whole = behindStream(i.base, i.whole) }},
		{pdflint.Readable, "no usable Size", objects, func(i *increment) { i.swap(`/Size \d+`, "/Size 0") }},
		{pdflint.EntrySize, "19 bytes", objects, func(i *increment) { i.replace(`n \ntrailer`, "n\ntrailer") }},
		{pdflint.Offset, "one off", objects, func(i *increment) {
			i.swap(`\n100 1\n\d{10}`, fmt.Sprintf("\n100 1\n%010d", i.number(`\n100 1\n0*(\d+)`)+1))
		}},
		{pdflint.Offset, "an object that was not written", objects, func(i *increment) {
			i.swap(`\n102 4\n(?s).{20}`, fmt.Sprintf("\n102 4\n%010d 00000 n \n", bytes.Index(i.base, []byte("102 0 obj"))))
		}},
		{pdflint.Offset, "one off", stream, func(i *increment) {
			at := bytes.LastIndex(i.whole, []byte("\nendstream"))
			i.whole[at-3]++
		}},
		{pdflint.Unlisted, "an object nobody lists", objects, func(i *increment) {
			i.swap(`\n102 4\n`, "\n102 3\n")
			i.replace(`\d{10} 00000 n \ntrailer`, "trailer")
		}},
		{pdflint.Generation, "another one", objects, func(i *increment) {
			i.swap(`^100 0 obj`, "100 1 obj")
			i.swap(`\n100 1\n\d{10} 00000`, fmt.Sprintf("\n100 1\n%010d 00001", i.number(`\n100 1\n0*(\d+)`)))
		}},
		{pdflint.Prev, "the section before that", objects, func(i *increment) { i.swap(`/Prev \d+`, "/Prev 15") }},
		{pdflint.Everything, "no Prev", objects, func(i *increment) { i.swap(`/Prev \d+`, "") }},
		{pdflint.Size, "too high", objects, func(i *increment) { i.swap(`/Size \d+`, "/Size 999") }},
		{pdflint.Leftovers, "XRefStm", objects, func(i *increment) { i.swap(`/Info 101 0 R`, "/XRefStm 1") }},
		{pdflint.Leftovers, "W", objects, func(i *increment) { i.swap(`/Info 101 0 R`, "/W [1 2 2]") }},
		{pdflint.Leftovers, "Filter", stream, func(i *increment) { i.swap(`/Info 101 0 R`, "/Filter []") }},
		{pdflint.Carried, "no Info", objects, func(i *increment) { i.swap(`/Info 101 0 R`, "") }},
		{pdflint.Carried, "another Info", stream, func(i *increment) { i.swap(`/Info 101 0 R`, "/Info 100 0 R") }},
		{pdflint.ID, "another first part", objects, func(i *increment) { i.swap(`<00112233`, "<99112233") }},
		{pdflint.ID, "no new second part", objects, func(i *increment) {
			i.swap(`eeff> <[0-9a-f]+>`, "eeff> <00112233445566778899aabbccddeeff>")
		}},
		{pdflint.ByteRange, "to before the end", objects, func(i *increment) {
			i.swap(`\d+\] *\S*/Contents`, fmt.Sprintf("%d]/Contents", i.number(`(\d+)\] */Contents`)-1))
		}},
		{pdflint.ByteRange, "a gap too wide", objects, func(i *increment) {
			i.swap(`ByteRange \[0 \d+`, fmt.Sprintf("ByteRange [0 %d", i.number(`ByteRange \[0 (\d+)`)-1))
		}},
		{pdflint.ByteRange, "another string", objects, func(i *increment) { i.swap(`/Contents <`, "/Contentz <") }},
		{pdflint.Contents, "cut short", objects, func(i *increment) { i.swap(`/Contents <3082....`, "/Contents <30829999") }},
		{pdflint.Contents, "something behind", objects, func(i *increment) { i.swap(`0> /M`, "1> /M") }},
		{pdflint.Rewritten, "another field", objects, func(i *increment) {
			i.swap(`^100 0 obj`, "101 0 obj")
			i.swap(`\n100 1\n`, "\n101 1\n")
		}},
		{pdflint.Rewritten, "an object freed", objects, func(i *increment) {
			i.swap(`\n100 1\n\d{10} 00000 n`, "\n100 1\n0000000000 00001 f")
		}},
		{pdflint.Kept, "DR of the form lost", objects, func(i *increment) { i.swap(`/DR << >>`, "") }},
		{pdflint.Kept, "DA of the form changed", objects, func(i *increment) { i.swap(`/Helv 0 Tf`, "/Helv 9 Tf") }},
		{pdflint.Kept, "NeedAppearances changed", objects, func(i *increment) { i.swap(`/NeedAppearances false`, "/NeedAppearances true") }},
		{pdflint.Kept, "a field lost", objects, func(i *increment) { i.swap(`/Fields \[101 0 R`, "/Fields [") }},
		{pdflint.Kept, "an annotation lost", objects, func(i *increment) { i.swap(`\n\[101 0 R`, "\n[") }},
		{pdflint.Kept, "Version of the catalog", inline, func(i *increment) { i.swap(catalog, "/Lang (en) /Version /2.0") }},
		{pdflint.Kept, "XFA added", objects, func(i *increment) { i.swap(acroForm, "/NeedAppearances false /XFA (x)") }},
		{pdflint.Kept, "the array of fields made an object", inline, func(i *increment) { i.swap(`/Fields \[101 0 R \d+ 0 R\]`, "/Fields 102 0 R") }},
		{pdflint.Kept, "the page's rotation lost", inline, func(i *increment) { i.swap(page, "") }},
		{pdflint.SigFlags, "AppendOnly missing", objects, func(i *increment) { i.swap(`/SigFlags 3`, "/SigFlags 1") }},
		{pdflint.FieldName, "full stop", objects, func(i *increment) { i.swap(`/T \(Signature1\)`, "/T (Signature.)") }},
		{pdflint.FieldName, "taken", objects, func(i *increment) { i.swap(`/T \(Signature1\)`, "/T (Name)") }},
		{pdflint.WidgetFlags, "not printed", objects, func(i *increment) { i.swap(`/F 132`, "/F 128") }},
		{pdflint.WidgetFlags, "hidden", objects, func(i *increment) { i.swap(`/F 132`, "/F 134") }},
		{pdflint.Appearance, "D", objects, func(i *increment) { i.swap(`/AP << /N (\d+ 0 R)`, "/AP << /D 3 0 R") }},
		{pdflint.Extensions, "indirect", inline, func(i *increment) { i.swap(`/ESIC << [^>]*>>`, "/ESIC 100 0 R") }},
		{pdflint.Extensions, "in version 1.4", inline, func(i *increment) { i.base[7], i.whole[7] = '4', '4' }},
		{pdflint.Comment, "an object in it", objects, func(i *increment) { i.swap(acroForm, "/NeedAppearances false % 7 0 obj\n") }},
		{pdflint.Comment, "NUL", objects, func(i *increment) { i.swap(acroForm, "/NeedAppearances false % \x00\n") }},
		{pdflint.PayloadSize, "Length", stream, func(i *increment) { i.swap(`/Length [1-9]\d*`, "/Length 7") }},
		{pdflint.ObjectFlow, "an object stream listed", stream, func(i *increment) {
			payload := i.whole[bytes.LastIndex(i.whole, []byte("\nstream\n"))+len("\nstream\n"):]
			payload[0] = 2
		}},
	} {
		delete(tested, test.rule)
		t.Run(string(test.rule)+"/"+test.name+"/"+fmt.Sprint(test.file), func(t *testing.T) {
			base := test.file.build()
			if test.rule == pdflint.LineEnd {
				base = bytes.TrimRight(base, "\n")
			}
			i := &increment{t, base, s.sign(t, base)}
			pdflint.Clean(t, i.base, i.whole)
			test.spoil(i)
			faults := pdflint.Check(i.base, i.whole)
			if !has(faults, test.rule) {
				t.Errorf("not found among %v", faults)
			}
		})
	}
	delete(tested, pdflint.Plaintext) // TestPlaintext
	for rule := range tested {
		t.Errorf("no increment breaks the rule %q", rule)
	}
}

// everyRule reads the rules from where they are declared.
func everyRule(t *testing.T) map[pdflint.Rule]bool {
	t.Helper()
	source, err := os.ReadFile("pdflint.go")
	if err != nil {
		t.Fatal(err)
	}
	rules := make(map[pdflint.Rule]bool)
	for _, m := range regexp.MustCompile(`\tRule = "([^"]+)"| Rule = "([^"]+)"`).FindAllSubmatch(source, -1) {
		rules[pdflint.Rule(slices.Concat(m[1], m[2]))] = true
	}
	if len(rules) < 20 {
		t.Fatalf("%d rules found", len(rules))
	}
	return rules
}

// An encrypted file's strings are encrypted: those of the signature too, but Contents.
func TestPlaintext(t *testing.T) {
	qpdf := testenv.Program(t, "qpdf")
	folder := t.TempDir()
	plain, encrypted := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "encrypted.pdf")
	if err := os.WriteFile(plain, shape{}.build(), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(qpdf, "--encrypt", "", "owner", "256", "--", plain, encrypted).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v: %s", err, text)
	}
	base, err := os.ReadFile(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	i := &increment{t, base, newSigner(t).sign(t, base)}
	pdflint.Clean(t, i.base, i.whole)
	i.swap(`/M <[0-9A-Fa-f]{50,}>`, "/M (D:20261121145000+00'00')")
	if faults := pdflint.Check(i.base, i.whole); !has(faults, pdflint.Plaintext) {
		t.Errorf("not found among %v", faults)
	}
}

func has(faults []pdflint.Fault, rule pdflint.Rule) bool {
	return slices.ContainsFunc(faults, func(f pdflint.Fault) bool { return f.Rule == rule })
}
