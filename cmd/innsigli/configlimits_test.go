package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/storage"
)

func TestLimits(t *testing.T) {
	with := func(change func(*limits)) limits {
		l := defaultLimits
		change(&l)
		return l
	}
	for text, want := range map[string]limits{
		"":                                      defaultLimits,
		"client-rate = 5":                       with(func(l *limits) { l.client = storage.Rate{PerSecond: 5, Burst: 60} }),
		"client-rate = 500":                     with(func(l *limits) { l.client = storage.Rate{PerSecond: 500, Burst: 500} }),
		"client-rate = 5\nclient-burst = 7":     with(func(l *limits) { l.client = storage.Rate{PerSecond: 5, Burst: 7} }),
		"client-rate = 0":                       with(func(l *limits) { l.client = storage.Rate{} }),
		"address-rate = 0\naddress-burst = 10":  with(func(l *limits) { l.address = storage.Rate{} }),
		"body = 5":                              with(func(l *limits) { l.body = 5 << 20 }),
		"body = 64\ndocuments = 256":            with(func(l *limits) { l.body, l.documents = 64<<20, 256<<20 }),
		"documents = 128":                       with(func(l *limits) { l.documents = 128 << 20 }),
		"connections = 10":                      with(func(l *limits) { l.connections = 10 }),
		"connections-per-address = 3":           with(func(l *limits) { l.perAddress = 3 }),
		"slow-after = \"1m\"\nleast-rate = 100": with(func(l *limits) { l.pace = admission.Pace{Grace: time.Minute, Rate: 100} }),
	} {
		path := filepath.Join(t.TempDir(), "conf.toml")
		if err := os.WriteFile(path, []byte("[limits]\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, found := readConfiguration(path)
		if diff := cmp.Diff(want, c.limits, cmp.AllowUnexported(limits{})); diff != "" || found.err() != nil {
			t.Errorf("%q: %v\n%s", text, found, diff)
		}
	}
}

// "serve --check" names what is wrong with the limits.
func TestFaultyLimits(t *testing.T) {
	for text, fault := range map[string]string{
		"client-rate = -1":          "limits.client-rate: is not between 0 and 100000",
		"client-rate = \"20\"":      "limits.client-rate: is not a whole number",
		"client-burst = 0":          "limits.client-burst: is not between 1 and 100000",
		"documents = 64":            "limits.documents: is not between 128 and 1048576",
		"body = 0":                  "limits.body: is not between 1 and 1024",
		"body = 321":                "limits.body: 321 MiB are more than a quarter of documents, 1280 MiB",
		"connections = 0":           "limits.connections: is not between 1 and 1000000",
		"slow-after = \"soon\"":     `limits.slow-after: "soon" is no time such as 60s`,
		"slow-after = \"\"":         `limits.slow-after: "" is no time such as 60s`,
		"slow-after = \"10ms\"":     "limits.slow-after: is less than 1s",
		"least-rate = 0":            "limits.least-rate: is not between 1 and 1073741824",
		"connections-per-host = 10": "limits.connections-per-host: is not known",
	} {
		path := filepath.Join(t.TempDir(), "conf.toml")
		if err := os.WriteFile(path, []byte("[limits]\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, found := readConfiguration(path)
		if err := found.err(); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v, want %s", text, err, fault)
		}
	}
}

// decisions.md 2.12: rates are "off in innsigli sandbox", and nothing else is.
func TestLimitsOfASandbox(t *testing.T) {
	got := defaultLimits.withoutRates()
	want := defaultLimits
	want.client, want.address = storage.Rate{}, storage.Rate{}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(limits{})); diff != "" {
		t.Error(diff)
	}
}
