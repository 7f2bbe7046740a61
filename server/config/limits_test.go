package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/storage"
)

func TestLimits(t *testing.T) {
	client, address := server.DefaultLimits.Client, server.DefaultLimits.Address
	rates := server.Limits{Client: client, Address: address}
	with := func(change func(*server.Limits)) server.Limits {
		l := rates
		change(&l)
		return l
	}
	for text, want := range map[string]server.Limits{
		"":                                      rates,
		"client-rate = 5":                       with(func(l *server.Limits) { l.Client = storage.Rate{PerSecond: 5, Burst: 60} }),
		"client-rate = 500":                     with(func(l *server.Limits) { l.Client = storage.Rate{PerSecond: 500, Burst: 500} }),
		"client-rate = 5\nclient-burst = 7":     with(func(l *server.Limits) { l.Client = storage.Rate{PerSecond: 5, Burst: 7} }),
		"client-rate = 0":                       with(func(l *server.Limits) { l.Client = server.Unlimited }),
		"address-rate = 0\naddress-burst = 10":  with(func(l *server.Limits) { l.Address = server.Unlimited }),
		"body = 5":                              with(func(l *server.Limits) { l.Body = 5 << 20 }),
		"body = 64\ndocuments = 256":            with(func(l *server.Limits) { l.Body, l.Documents = 64<<20, 256<<20 }),
		"documents = 128":                       with(func(l *server.Limits) { l.Documents = 128 << 20 }),
		"connections = 10":                      with(func(l *server.Limits) { l.Connections = 10 }),
		"connections-per-address = 3":           with(func(l *server.Limits) { l.ConnectionsPerAddress = 3 }),
		"person-pending = 7\nperson-starts = 8": with(func(l *server.Limits) { l.PersonPending, l.PersonStarts = 7, 8 }),
		"person-logins = 0":                     with(func(l *server.Limits) { l.PersonLogins = server.NoLimit }),
		"slow-after = \"1m\"\nleast-rate = 100": with(func(l *server.Limits) { l.SlowAfter, l.LeastRate = time.Minute, 100 }),
	} {
		c, found := fileOf(t, "[limits]\n"+text)
		if diff := cmp.Diff(want, c.limits); diff != "" || found.Err() != nil {
			t.Errorf("%q: %v\n%s", text, found, diff)
		}
	}
}

// fileOf reads a configuration.
func fileOf(t *testing.T, content string) (File, Faults) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conf.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return ReadFile(path)
}

// "serve --check" names what is wrong with the limits.
func TestFaultyLimits(t *testing.T) {
	for text, fault := range map[string]string{
		"client-rate = -1":          "limits.client-rate: must be between 0 and 100000",
		"client-rate = \"20\"":      "limits.client-rate: must be a whole number",
		"client-burst = 0":          "limits.client-burst: must be between 1 and 100000",
		"documents = 64":            "limits.documents: must be between 128 and 1048576",
		"body = 0":                  "limits.body: must be between 1 and 1024",
		"body = 321":                "limits.body: 321 MiB must be at most a quarter of documents, 1280 MiB",
		"connections = 0":           "limits.connections: must be between 1 and 1000000",
		"slow-after = \"soon\"":     `limits.slow-after: "soon" must be a duration such as 60s`,
		"slow-after = \"\"":         `limits.slow-after: "" must be a duration such as 60s`,
		"slow-after = \"10ms\"":     "limits.slow-after: must be at least 1s",
		"person-starts = 1001":      "limits.person-starts: must be between 0 and 1000",
		"least-rate = 0":            "limits.least-rate: must be between 1 and 1073741824",
		"connections-per-host = 10": "limits.connections-per-host: is unknown: check its spelling",
	} {
		path := filepath.Join(t.TempDir(), "conf.toml")
		if err := os.WriteFile(path, []byte("[limits]\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, found := ReadFile(path)
		if err := found.Err(); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v, want %s", text, err, fault)
		}
	}
}

func TestProxyFaults(t *testing.T) {
	for content, want := range map[string]string{
		`[proxy]`:                                                   "proxy.trusted: is missing",
		"[proxy]\ntrusted = [\"10.0.0.1/8\"]":                       `proxy.trusted[0]: "10.0.0.1/8" is not an address or a prefix`,
		"[proxy]\ntrusted = [\"proxy.example\"]":                    `proxy.trusted[0]: "proxy.example" is not an address`,
		"[proxy]\ntrusted = [\"10.0.0.1\", \"0.0.0.0/0\"]":          `proxy.trusted[1]: "0.0.0.0/0" includes every address`,
		"[proxy]\ntrusted = [\"::ffff:10.0.0.0/104\"]":              `proxy.trusted[0]: "::ffff:10.0.0.0/104" is an IPv4 prefix in IPv6 form`,
		"[proxy]\ntrusted = [\"fe80::1%eth0\"]":                     `proxy.trusted[0]:`,
		"[proxy]\ntrusted = [\"::1\"]\nheader = \"X-Real-IP\"":      `proxy.header: "X-Real-IP" must be one of X-Forwarded-For, Forwarded`,
		"[proxy]\ntrusted = [\"::1\"]\nheaders = \"X-Real-IP\"\n":   `proxy.headers: is unknown: check its spelling`,
		"[proxy]\ntrusted = \"::1\"\n[webhooks]\nmax-subscriptions": "expected",
	} {
		_, found := fileOf(t, content)
		if err := found.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

func TestPeriods(t *testing.T) {
	now := time.Date(2028, time.February, 29, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"1h":      "2028-02-29T11:00:00Z",
		"24h":     "2028-02-28T12:00:00Z",
		"1h30m":   "2028-02-29T10:30:00Z",
		"90d":     "2027-12-01T12:00:00Z",
		"1y":      "2027-03-01T12:00:00Z", // there is no 29 February
		"4y":      "2024-02-29T12:00:00Z",
		"10y":     "2018-03-01T12:00:00Z",
		"100y":    "1928-02-29T12:00:00Z",
		"876000h": "1928-03-25T12:00:00Z",

		"": "", "0": "", "0d": "", "0y": "", "59m59s": "", "-1d": "", "-24h": "", "+1d": "", "1.5y": "", "1y6d": "", "1d12h": "", "d": "", "y": "", "1w": "",
		"101y": "", "36501d": "", "876001h": "", "99999999999d": "", "1 d": "", "1_0d": "", "24": "", "10Y": "",
	} {
		var p period
		ok := p.UnmarshalText([]byte(text)) == nil
		if ok != (want != "") {
			t.Errorf("%q: taken %t", text, ok)
		} else if got := now.AddDate(-p.Years, 0, 0).Add(-p.Rest).Format(time.RFC3339); ok && got != want {
			t.Errorf("%q before %v is %s, want %s", text, now, got, want)
		}
	}
}
