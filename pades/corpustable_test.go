package pades_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// corpusTable is docs/corpus.md. Its figures are those of the run, even if that failed.
func corpusTable(files []*corpusFile, failed bool) []byte {
	all := count(files)
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Foreign files, signed

Written by %[1]s.ci/full%[1]s. The files are the PDFs that pdf.js tests itself with, many of them
broken on purpose. Readable are those that mutool and pdfinfo read without a password. A
signed file has nothing wrong when

- every byte before the signature is as it was, and the lint of our increments finds nothing;
- %[1]sqpdf --check%[1]s complains no more than about the file as it was;
- pdfsig calls the signature valid and the whole document signed;
- mutool draws every page as it was, dot for dot at 50 dpi;
- page count, page sizes and properties are unchanged for pdfinfo; page count, bookmarks and
  form fields, but for the signature's, for pdfcpu.

**%[2]d of %[3]d readable files (%.1[4]f %%) are signed with nothing wrong**; at least %.0[5]f %% are
asked for. %[6]d are signed with a fault, %[7]d refused. Of the %[8]d others, %[9]d are signed.
None took longer than %[10]v; %[11]v are permitted.

`, "`", all.clean, all.readable, 100*float64(all.clean)/float64(all.readable), 100*wantSigned,
		all.faulty, all.refused, all.tried-all.readable, all.othersSigned, longest(files), maxTime)
	noteFailure(&b, failed)
	section(&b, "Signed with a fault", files, func(f *corpusFile) string { return strings.Join(f.faults, "; ") })
	section(&b, "Readable and refused", files, func(f *corpusFile) string {
		if f.refused == nil || !f.readable {
			return ""
		}
		return f.reason()
	})
	section(&b, "Refused, and not readable for others", files, func(f *corpusFile) string {
		if f.refused == nil || f.readable {
			return ""
		}
		return f.reason()
	})
	unjudged(&b, files)
	return b.Bytes()
}

// noteFailure says in a table that not everything was as it has to be.
func noteFailure(b *bytes.Buffer, failed bool) {
	if failed {
		b.WriteString("**The run that wrote this failed.**\n\n")
	}
}

// section lists the files of which there is something to say.
func section(b *bytes.Buffer, title string, files []*corpusFile, say func(*corpusFile) string) {
	fmt.Fprintf(b, "## %s\n\n| file | why |\n|---|---|\n", title)
	for _, f := range files {
		if text := say(f); text != "" {
			fmt.Fprintf(b, "| %s | %s |\n", f.name, cell(text))
		}
	}
	b.WriteString("\n")
}

// cell is a text that fits into one.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

// unjudged says how many files each judge could not read as they were.
func unjudged(b *bytes.Buffer, files []*corpusFile) {
	counts := make(map[string]int)
	for _, f := range files {
		for _, program := range f.unjudged {
			counts[program]++
		}
	}
	b.WriteString("## Not compared\n\nSigned files that a program could not read, or took over a minute for, as they were:\n\n")
	programs := slices.SortedFunc(maps.Keys(counts), func(x, y string) int { return cmp.Or(counts[y]-counts[x], strings.Compare(x, y)) })
	for _, program := range programs {
		fmt.Fprintf(b, "- %s: %d\n", program, counts[program])
	}
}
