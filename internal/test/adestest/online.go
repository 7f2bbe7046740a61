package adestest

import (
	"bytes"
	"crypto/x509"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// site is an authority behind HTTP that began two hours ago, with a signer whose signatures carry
// no certificate but the signer's own.
type site struct {
	signer
	visits catest.Visits
	front  http.Handler // answers instead of the authority; nil: the authority does
}

func newSite(t testing.TB) *site {
	t.Helper()
	began := time.Now().Add(-2 * time.Hour)
	ca, err := sandboxca.New(began)
	if err != nil {
		t.Fatal(err)
	}
	s := new(site)
	catest.ServeThrough(t, ca, began, func(authority http.Handler) http.Handler {
		return s.visits.Front(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s.front != nil {
				s.front.ServeHTTP(w, r)
			} else {
				authority.ServeHTTP(w, r)
			}
		}))
	})
	s.signer = newSigner(t, ca, began)
	s.Chain = nil
	return s
}

// sign signs at level B, or at level T with a timestamp from some time ago.
func (s *site) sign(t testing.TB, f Format, document []byte, level ades.Level, ago time.Duration) []byte {
	t.Helper()
	o := Options{Level: level, Time: time.Now().Add(-100 * time.Minute)}
	return f.sign(t, document, s.signer, o, s.ca.Sources(clock(-ago)).Time)
}

// loopback returns a client that connects to this machine alone.
func loopback() *http.Client { return online.NewClient(netip.MustParsePrefix("127.0.0.0/8")) }

// verifyOnline has Verify get what is missing over HTTP.
func (f Format) verifyOnline(t testing.TB, document []byte, o ades.VerifyOptions, client *http.Client) *ades.Report {
	t.Helper()
	o.Revocation, o.Issuers = &online.Revocation{Client: client}, &online.Issuers{Client: client}
	return f.Verify(t, document, o)
}

// testVerifyOnline: Verify gets what the document lacks, issuers and revocation data, once for each
// certificate, however many signatures there are. Without sources it makes no requests. The level
// is that of the document in both cases.
func testVerifyOnline(t *testing.T, f Format) {
	for _, row := range []struct {
		level   ades.Level
		missing ades.SubIndication // offline
		visits  map[string]int
	}{
		// The signer's issuer, and the revocation data of both.
		{ades.B, ades.NoCertificateChainFound, map[string]int{sandboxca.PathIssuers: 1, sandboxca.PathOCSP: 1, sandboxca.PathCRL: 1}},
		// The timestamp has the issuer, and an authority that needs revocation data too.
		{ades.T, ades.TryLater, map[string]int{sandboxca.PathOCSP: 2, sandboxca.PathCRL: 1}},
	} {
		s := newSite(t)
		content := f.Variants[0].Document
		for range 3 {
			content = s.sign(t, f, content, row.level, time.Hour)
		}
		offline := f.verify(t, content, s.ca)
		if visits := s.visits.Take(); len(visits) > 0 {
			t.Errorf("%v: requests without sources: %v", row.level, visits)
		}
		report := f.verifyOnline(t, content, ades.VerifyOptions{Roots: s.ca.Roots()}, loopback())
		if diff := cmp.Diff(row.visits, s.visits.Take()); diff != "" {
			t.Errorf("%v: requests (-want +got):\n%s", row.level, diff)
		}
		missing, passed := f.undecided(row.level, row.missing), f.passed(row.level)
		if diff := cmp.Diff([]outcome{missing, missing, missing}, outcomes(offline)); diff != "" {
			t.Errorf("%v, offline (-want +got):\n%s", row.level, diff)
		}
		if diff := cmp.Diff([]outcome{passed, passed, passed}, outcomes(report)); diff != "" {
			t.Errorf("%v, online (-want +got):\n%s%q", row.level, diff, report.Problems())
		}
		for i, got := range report.Signatures {
			if got.BestTime.IsZero() != (row.level == ades.B) || len(got.Chain) != 3 || !slices.Equal(got.Warnings, offline.Signatures[i].Warnings) {
				t.Errorf("%v: best signature time %v, chain of %d, warnings %q", row.level, got.BestTime, len(got.Chain), got.Warnings)
			}
		}
	}
}

// testVerifyOnlineRevoked: a revocation counts from its own time on, as of the best signature time,
// or else of the validation.
func testVerifyOnlineRevoked(t *testing.T, f Format) {
	revokedB, revokedT := f.undecided(ades.B, ades.RevokedNoPOE), f.undecided(ades.T, ades.RevokedNoPOE)
	for _, row := range []struct {
		name                        string
		level                       ades.Level
		stamped, revoked, validated int // minutes ago
		want                        outcome
	}{
		{"after the timestamp", ades.T, 60, 30, 0, f.passed(ades.T)},
		{"before the timestamp", ades.T, 60, 90, 0, revokedT},
		{"without a timestamp", ades.B, 0, 30, 0, revokedB},
		{"after the time of validation", ades.B, 0, 30, 45, f.passed(ades.B)},
		{"before the time of validation", ades.B, 0, 50, 45, revokedB},
	} {
		s := newSite(t)
		signed := s.sign(t, f, f.Variants[0].Document, row.level, time.Duration(row.stamped)*time.Minute)
		s.ca.Revoke(s.Certificate.SerialNumber, clock(-time.Duration(row.revoked)*time.Minute)(), 1)
		o := ades.VerifyOptions{Roots: s.ca.Roots(), Time: clock(-time.Duration(row.validated) * time.Minute)()}
		got := f.verifyOnline(t, signed, o, loopback()).Signatures[0]
		if outcomeOf(got) != row.want {
			t.Errorf("revoked %s: %+v, want %+v: %q", row.name, outcomeOf(got), row.want, got.Problems)
		}
	}
}

// testVerifyOnlineFails: where a server gives nothing of use, the result is that of an offline
// validation, and a warning states why.
func testVerifyOnlineFails(t *testing.T, f Format) {
	for _, row := range []struct {
		name   string
		front  http.HandlerFunc
		client *http.Client // nil: connects to public addresses alone
		want   string       // in the warnings
	}{
		{"server is down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, loopback(), "503"},
		{"answer never ends", neverEnds, loopback(), "too large"},
		{"answer is no OCSP", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "nonsense") }, loopback(), "OCSP"},
		{"address is not public", nil, nil, online.ErrAddress.Error()},
	} {
		s := newSite(t)
		s.Chain = s.ca.Chain()
		signed := s.sign(t, f, f.Variants[0].Document, ades.B, 0)
		if row.front != nil {
			s.front = row.front
		}
		got := f.verifyOnline(t, signed, ades.VerifyOptions{Roots: s.ca.Roots()}, row.client).Signatures[0]
		if want := f.undecided(ades.B, ades.TryLater); outcomeOf(got) != want {
			t.Errorf("%s: %+v, want %+v: %q", row.name, outcomeOf(got), want, got.Problems)
		}
		if warnings := strings.Join(got.Warnings, " "); !strings.Contains(warnings, row.want) {
			t.Errorf("%s: warnings %q, want %q in them", row.name, warnings, row.want)
		}
		visits := s.visits.Take()
		if row.client == nil && len(visits) > 0 || visits[sandboxca.PathOCSP] > 2 {
			t.Errorf("%s: requests %v", row.name, visits)
		}
	}
}

func neverEnds(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			return
		}
	}
}

// testVerifyOnlineUntrusted: Verify does not use the addresses in a certificate without a path to a
// root, and makes no requests at all for a signature that has failed or where there are no roots.
func testVerifyOnlineUntrusted(t *testing.T, f Format) {
	s, other := newSite(t), newAuthority(t, time.Now())
	s.Chain = s.ca.Chain()
	signed := s.sign(t, f, f.Variants[0].Document, ades.B, 0)
	got := outcomeOf(f.verifyOnline(t, signed, ades.VerifyOptions{Roots: other.Roots()}, loopback()).Signatures[0])
	visits := s.visits.Take()
	if want := f.undecided(ades.B, ades.NoCertificateChainFound); got != want || visits[sandboxca.PathOCSP]+visits[sandboxca.PathCRL] > 0 {
		t.Errorf("another root: %+v, want %+v, and no requests for revocation data: %v", got, want, visits)
	}
	f.verifyOnline(t, signed, ades.VerifyOptions{}, loopback())
	broken := f.ChangeValue(t, bytes.Clone(signed))
	f.verifyOnline(t, broken, ades.VerifyOptions{Roots: s.ca.Roots()}, loopback())
	if visits := s.visits.Take(); len(visits) > 0 {
		t.Errorf("no roots, or a broken signature: requests %v", visits)
	}
}

// testVerifyWarm verifies twice with the same caches, then changes what made the signer trusted, and verifies again: the
// result is that of a verification without caches. The revocation status of the signer is fetched each time, and that of
// its issuer is kept.
func testVerifyWarm(t *testing.T, f Format) {
	for _, row := range []struct {
		name   string
		change func(*site, *ades.VerifyOptions)
		want   outcome
	}{
		{"nothing changes", func(*site, *ades.VerifyOptions) {}, f.passed(ades.B)},
		{"signer revoked", func(s *site, _ *ades.VerifyOptions) {
			s.ca.Revoke(s.Certificate.SerialNumber, time.Now().Add(-time.Hour), 1)
		}, f.undecided(ades.B, ades.RevokedNoPOE)},
		{"signer expired", func(s *site, o *ades.VerifyOptions) { o.Time = s.Certificate.NotAfter.Add(day) }, f.undecided(ades.B, ades.OutOfBoundsNoPOE)},
		{"root removed", func(_ *site, o *ades.VerifyOptions) { o.Roots = x509.NewCertPool() }, f.undecided(ades.B, ades.NoCertificateChainFound)},
		{"root replaced", func(_ *site, o *ades.VerifyOptions) { o.Roots = newAuthority(t, time.Now()).Roots() }, f.undecided(ades.B, ades.NoCertificateChainFound)},
		{"roots read again", func(s *site, o *ades.VerifyOptions) { o.Roots = s.ca.Roots() }, f.passed(ades.B)},
	} {
		s := newSite(t)
		signed := s.sign(t, f, f.Variants[0].Document, ades.B, 0)
		warm := ades.VerifyOptions{Roots: s.ca.Roots(), Chains: new(ades.Chains)}
		warm.Revocation, warm.Issuers = &online.Revocation{Client: loopback(), Chains: warm.Chains}, &online.Issuers{Client: loopback()}
		for i := range 2 {
			if got := outcomeOf(f.Verify(t, signed, warm).Signatures[0]); got != f.passed(ades.B) {
				t.Errorf("%s, verification %d: %+v", row.name, i, got)
			}
		}
		if visits := s.visits.Take(); visits[sandboxca.PathOCSP] != 2 || visits[sandboxca.PathCRL] != 1 {
			t.Errorf("%s: requests %v", row.name, visits)
		}
		row.change(s, &warm)
		cold := warm
		cold.Chains = nil
		got, without := f.Verify(t, signed, warm).Signatures[0], f.verifyOnline(t, signed, cold, loopback()).Signatures[0]
		if outcomeOf(got) != row.want || outcomeOf(without) != row.want {
			t.Errorf("%s: %+v, without caches %+v, want %+v: %q", row.name, outcomeOf(got), outcomeOf(without), row.want, got.Problems)
		}
	}
}
