package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// spec 4.7 has the sum. docs/production.md shows the text.
func TestStatementForms(t *testing.T) {
	s := account.Statement{
		Account: "0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11", Name: `Example "Ltd.", Reykjavík`, Month: time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC),
		Signing: 3, Portal: 9, Free: 3, Price: 215, Amount: 1935,
	}
	var text bytes.Buffer
	if err := printCSV(&text, lineOf(s)); err != nil {
		t.Fatal(err)
	}
	want := `account,name,month,signingApi,portalApi,signatures,free,price,amount,currency
0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11,"Example ""Ltd."", Reykjavík",2026-11,3,9,12,3,215,1935,ISK
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}

	s.Name = "Example Ltd."
	paper := string(testenv.ReadFile(t, filepath.Join(testenv.Root(t), "docs", "production.md")))
	_, shown, _ := strings.Cut(paper, "```\nNovember 2026\n")
	shown, _, _ = strings.Cut(shown, "```")
	for now, title := range map[time.Time]string{
		time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC):                                "November 2026\n",
		time.Date(2026, time.November, 30, 23, 59, 59, 0, time.UTC):                            "November 2026, so far\n",
		time.Date(2026, time.December, 1, 8, 59, 59, 0, time.FixedZone("Tokyo", 9*60*60)):      "November 2026, so far\n",
		time.Date(2026, time.November, 30, 23, 30, 0, 0, time.FixedZone("New York", -5*60*60)): "November 2026\n",
	} {
		text.Reset()
		if err := printStatement(&text, s, now); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(title+shown, text.String()); diff != "" {
			t.Errorf("at %v: %s", now, diff)
		}
	}
}
