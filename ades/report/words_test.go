package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// values are the constants of package ades that have a type, which is one of texts.
func values(t *testing.T, typeName string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "ades", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typeName && len(spec.Values) == 1 {
				value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, value)
			}
			return true
		})
	}
	if len(all) < 3 {
		t.Fatalf("constants of ades.%s: %q", typeName, all)
	}
	return all
}

// texts are the words about each value, as "value: language: text".
func texts[K ~string, W any](all map[K]W, of func(W) []words) map[string][]words {
	out := make(map[string][]words)
	for k, w := range all {
		out[string(k)] = of(w)
	}
	return out
}

func one(w words) []words { return []words{w} }

// Every value that a report may have has words in both languages, whoever adds it.
func TestEveryValueHasWords(t *testing.T) {
	for typeName, have := range map[string]map[string][]words{
		"Indication":       texts(indications, one),
		"RevocationStatus": texts(revocations, one),
		"SubIndication":    texts(subIndications, one),
		"Coverage":         texts(coverages, one),
		"TimestampType":    texts(timestampTypes, one),
		"ChangeKind":       texts(changeKinds, func(h changeWords) []words { return []words{h.general} }),
	} {
		for _, value := range values(t, typeName) {
			all, ok := have[value]
			if !ok {
				t.Errorf("ades.%s %s has no words", typeName, value)
			}
			for _, w := range all {
				if w.en == "" || w.is == "" || w.en == w.is {
					t.Errorf("%s: %+v", value, w)
				}
			}
		}
	}
	for l := ades.B; ; l++ {
		if strings.HasPrefix(l.String(), "Level(") {
			break
		}
		if w := levels[l]; w.en == "" || w.is == "" {
			t.Errorf("level %v: %+v", l, w)
		}
	}
}

// What is put into a text in one language is put into it in the other.
func TestLanguagesSayTheSame(t *testing.T) {
	found := 0
	compare := func(name string, w words) {
		found++
		braces := regexp.MustCompile(`\{\w+\}`)
		en, is := braces.FindAllString(w.en, -1), braces.FindAllString(w.is, -1)
		slices.Sort(en)
		slices.Sort(is)
		if !slices.Equal(en, is) || w.en == "" || w.is == "" {
			t.Errorf("%s: %+v", name, w)
		}
	}
	for _, h := range changeKinds {
		compare("changeKinds", h.general)
		if h.onPages != (words{}) {
			compare("changeKinds", h.onPages)
		}
	}
	for _, list := range []map[string]words{under(subIndications), under(indications), under(coverages), under(timestampTypes), under(revocations)} {
		for name, w := range list {
			compare(name, w)
		}
	}
	for _, c := range []countedWords{allPassed, allButRevocation, someFailed, someChanged, someUnconfirmed, somePartial, noneCovers} {
		compare("counted", c.only)
		compare("counted", c.several)
	}
	for _, w := range append(slices.Clone(allLabels), and, more, quotationMarks, day, second, unreadable, unsigned, validSoFar, validRevision, changedAfter,
		inRevision, permitted, notPermitted, onePage, severalPages, moreChanges, coversEarlier, coversCounter, nothingAfter, validationDataAfter,
		bytesAfter, head, unknownSigner, unconfirmed, inForce, trust, noTrust, noTrustThen, named, claimed, noTimeClaimed, proven, noBestTime, unnamedAuthority,
		timestamp, timeUnknown, timestampTrusted, timestampUntrusted, timestampBroken, comparable, noLevel, warning, details, detailsSignature, detailsChange, detailsTimestamp,
		revokedLater, fetched, certificateStatus, viaCertificate, judgedAtBestTime, judgedAtPresent) {
		compare("word", w)
	}
	if found < 100 {
		t.Errorf("%d words", found)
	}
}

func under[K ~string](all map[K]words) map[string]words {
	out := make(map[string]words)
	for k, w := range all {
		out[string(k)] = w
	}
	return out
}
