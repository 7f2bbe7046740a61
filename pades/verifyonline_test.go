package pades_test

import (
	"bytes"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// reachable is a test's own authority behind HTTP, with somebody whose signatures carry the signer's
// certificate and no other.
type reachable struct {
	person
	visits catest.Visits
	front  http.Handler // nil: the authority itself
}

func (r *reachable) through(next http.Handler) http.Handler {
	return r.visits.Front(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.front != nil {
			r.front.ServeHTTP(w, q)
			return
		}
		next.ServeHTTP(w, q)
	}))
}

// newReachable is an authority that began so long ago.
func newReachable(t *testing.T, ago time.Duration) *reachable {
	t.Helper()
	began := time.Now().Add(-ago)
	ca, err := sandboxca.New(began)
	if err != nil {
		t.Fatal(err)
	}
	r := new(reachable)
	catest.ServeThrough(t, ca, began, r.through)
	key := p256(t)
	cert, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), began)
	if err != nil {
		t.Fatal(err)
	}
	r.person = person{key: key, ca: ca, signer: ades.Signer{Certificate: cert}}
	return r
}

// signAt signs at level T, with a timestamp of that time; at level B without one.
func (r *reachable) signAt(t *testing.T, b []byte, at time.Time) []byte {
	t.Helper()
	options := pades.Options{Time: time.Now().Add(-100 * time.Minute)}
	if !at.IsZero() {
		options.Level = ades.T
	}
	pending, err := pades.Prepare(t.Context(), document(b), r.signer, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := pending.Sign(t.Context(), r.key, authorityAt(r.ca, at))
	if err != nil {
		t.Fatal(err)
	}
	return appendAll(t, b, []pades.Revision{signed})
}

func onLoopback() *http.Client { return online.NewClient(netip.MustParsePrefix("127.0.0.0/8")) }

// verifyAsking verifies with what asks over HTTP.
func verifyAsking(t *testing.T, b []byte, o ades.VerifyOptions, client *http.Client) []ades.SignatureReport {
	t.Helper()
	o.Revocation, o.Issuers = &online.Revocation{Client: client}, &online.Issuers{Client: client}
	report, err := pades.Verify(t.Context(), document(b), o)
	if err != nil {
		t.Fatal(err)
	}
	return report.Signatures
}

type outcome struct {
	Format        string
	Indication    ades.Indication
	SubIndication ades.SubIndication
}

func outcomesOf(reports []ades.SignatureReport) (all []outcome) {
	for _, s := range reports {
		all = append(all, outcome{s.Format, s.Indication, s.SubIndication})
	}
	return all
}

// What the document lacks, issuers and status, is fetched: about each certificate once, however many
// signatures it has. Offline nobody is asked, and the level is what the document has in both cases.
func TestVerifyFetchesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		level   string
		stamped time.Time
		missing ades.SubIndication
		asked   map[string]int
	}{
		// The signer's issuer, and the status of both.
		{"B", time.Time{}, ades.NoCertificateChainFound,
			map[string]int{sandboxca.PathIssuers: 1, sandboxca.PathOCSP: 1, sandboxca.PathCRL: 1}},
		// The issuer is in the timestamp, whose authority has a status too.
		{"T", time.Now().Add(-time.Hour), ades.TryLater, map[string]int{sandboxca.PathOCSP: 2, sandboxca.PathCRL: 1}},
	} {
		t.Run(test.level, func(t *testing.T) {
			t.Parallel()
			r := newReachable(t, 2*time.Hour)
			b := pdftest.Build(pdftest.Options{})
			for range 3 {
				b = r.signAt(t, b, test.stamped)
			}
			offline := verify(t, b, r.ca)
			if visits := r.visits.Take(); len(visits) > 0 {
				t.Errorf("asked offline: %v", visits)
			}
			got := verifyAsking(t, b, ades.VerifyOptions{Roots: r.ca.Roots()}, onLoopback())
			if diff := cmp.Diff(test.asked, r.visits.Take()); diff != "" {
				t.Error(diff)
			}
			format := "PAdES-BASELINE-" + test.level
			missing, passed := outcome{format, ades.Indeterminate, test.missing}, outcome{format, ades.TotalPassed, ""}
			if diff := cmp.Diff([]outcome{missing, missing, missing}, outcomesOf(offline)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]outcome{passed, passed, passed}, outcomesOf(got)); diff != "" {
				t.Errorf("%s%v", diff, got[0].Problems)
			}
			for _, s := range got {
				if s.BestTime.IsZero() != test.stamped.IsZero() || len(s.Chain) != 3 || len(s.Warnings) > 0 {
					t.Errorf("proven at %v, chain of %d, %v", s.BestTime, len(s.Chain), s.Warnings)
				}
			}
		})
	}
}

// What is fetched says since when a certificate is revoked, and is judged as of the time that is proven, or
// else of the judgement.
func TestVerifyFetchesRevocations(t *testing.T) {
	t.Parallel()
	now := time.Now()
	passed := outcome{"PAdES-BASELINE-T", ades.TotalPassed, ""}
	revoked := outcome{"PAdES-BASELINE-T", ades.Indeterminate, ades.RevokedNoPOE}
	unstamped := func(o outcome) outcome { o.Format = "PAdES-BASELINE-B"; return o }
	for _, test := range []struct {
		name           string
		stamped        time.Duration // ago; zero: never
		revoked, judge time.Duration // ago
		want           outcome
	}{
		{"after the timestamp", time.Hour, 30 * time.Minute, 0, passed},
		{"before the timestamp", time.Hour, 90 * time.Minute, 0, revoked},
		{"without a timestamp", 0, 30 * time.Minute, 0, unstamped(revoked)},
		{"after the time of judgement", 0, 30 * time.Minute, 45 * time.Minute, unstamped(passed)},
		{"before the time of judgement", 0, 50 * time.Minute, 45 * time.Minute, unstamped(revoked)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newReachable(t, 2*time.Hour)
			var stamped time.Time
			if test.stamped > 0 {
				stamped = now.Add(-test.stamped)
			}
			b := r.signAt(t, pdftest.Build(pdftest.Options{}), stamped)
			r.ca.Revoke(r.signer.Certificate.SerialNumber, now.Add(-test.revoked), 1)
			got := verifyAsking(t, b, ades.VerifyOptions{Roots: r.ca.Roots(), Time: now.Add(-test.judge)}, onLoopback())
			if diff := cmp.Diff([]outcome{test.want}, outcomesOf(got)); diff != "" {
				t.Errorf("%s%v", diff, got[0].Problems)
			}
		})
	}
}

// endless never comes to an end of its answer.
func endless(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			return
		}
	}
}

// Whoever is asked may be down, hostile or out of bounds: the result is what it is without, and a warning
// says what was asked for in vain.
func TestVerifyAsksInVain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		front  http.HandlerFunc
		client *http.Client // nil: public addresses only
		want   string       // in the warning
	}{
		{"down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, onLoopback(), "503"},
		{"endless", endless, onLoopback(), "too large"},
		{"nonsense", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "nonsense") }, onLoopback(), "OCSP"},
		{"no public address", nil, nil, online.ErrAddress.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newReachable(t, 2*time.Hour)
			r.signer.Chain = r.ca.Chain()
			b := r.signAt(t, pdftest.Build(pdftest.Options{}), time.Time{})
			if test.front != nil {
				r.front = test.front
			}
			got := verifyAsking(t, b, ades.VerifyOptions{Roots: r.ca.Roots()}, test.client)
			if diff := cmp.Diff([]outcome{{"PAdES-BASELINE-B", ades.Indeterminate, ades.TryLater}}, outcomesOf(got)); diff != "" {
				t.Error(diff)
			}
			if said := strings.Join(got[0].Warnings, " "); !strings.Contains(said, test.want) {
				t.Errorf("%q is not in %q", test.want, said)
			}
			visits := r.visits.Take()
			if test.client == nil && len(visits) > 0 || visits[sandboxca.PathOCSP] > 2 {
				t.Errorf("asked: %v", visits)
			}
		})
	}
}

// Nobody vouches for addresses in a certificate that leads to no root: its status is not asked for, and
// nothing at all for a signature that has failed.
func TestVerifyAsksNothingOfStrangers(t *testing.T) {
	t.Parallel()
	r := newReachable(t, 2*time.Hour)
	r.signer.Chain = r.ca.Chain()
	b := r.signAt(t, pdftest.Build(pdftest.Options{}), time.Time{})
	stranger := newAuthority(t)
	got := verifyAsking(t, b, ades.VerifyOptions{Roots: stranger.Roots()}, onLoopback())
	if visits := r.visits.Take(); visits[sandboxca.PathOCSP]+visits[sandboxca.PathCRL] > 0 || got[0].SubIndication != ades.NoCertificateChainFound {
		t.Errorf("%v, asked: %v", got[0].Problems, visits)
	}
	verifyAsking(t, b, ades.VerifyOptions{}, onLoopback())
	verifyAsking(t, corrupted(b, 20), ades.VerifyOptions{Roots: r.ca.Roots()}, onLoopback())
	if visits := r.visits.Take(); len(visits) > 0 {
		t.Errorf("asked: %v", visits)
	}
}

// corrupted is a document with a bit of one byte turned over.
func corrupted(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}
