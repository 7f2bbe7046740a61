package xades_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// reachable is a test's own authority behind HTTP, with somebody whose signatures carry the signer's
// certificate and no other.
type reachable struct {
	person
	visits catest.Visits
	down   bool
}

func (r *reachable) through(next http.Handler) http.Handler {
	return r.visits.Front(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if r.down {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, q)
	}))
}

func newReachable(t *testing.T) *reachable {
	t.Helper()
	began := time.Now().Add(-2 * time.Hour)
	ca, err := sandboxca.New(began)
	if err != nil {
		t.Fatal(err)
	}
	r := new(reachable)
	catest.ServeThrough(t, ca, began, r.through)
	r.person = newPersonAt(t, ca, p256(t), began)
	r.signer.Chain = nil
	return r
}

// verifyAsking verifies with what asks over HTTP.
func verifyAsking(t *testing.T, b []byte, o ades.VerifyOptions) []ades.SignatureReport {
	t.Helper()
	client := online.NewClient(netip.MustParsePrefix("127.0.0.0/8"))
	o.Revocation, o.Issuers = &online.Revocation{Client: client}, &online.Issuers{Client: client}
	report, err := xades.Verify(t.Context(), document(b), o)
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
		level   ades.Level
		missing ades.SubIndication
		asked   map[string]int
	}{
		// The signer's issuer, and the status of both.
		{ades.B, ades.NoCertificateChainFound, map[string]int{sandboxca.PathIssuers: 1, sandboxca.PathOCSP: 1, sandboxca.PathCRL: 1}},
		// The issuer is in the timestamp, whose authority has a status too.
		{ades.T, ades.TryLater, map[string]int{sandboxca.PathOCSP: 2, sandboxca.PathCRL: 1}},
	} {
		t.Run(test.level.String(), func(t *testing.T) {
			t.Parallel()
			r := newReachable(t)
			b := []byte(contract)
			for range 3 {
				b = signFor(t, b, r.person, test.level, xades.Options{})
			}
			offline := verify(t, b, r.ca)
			if visits := r.visits.Take(); len(visits) > 0 {
				t.Errorf("asked offline: %v", visits)
			}
			got := verifyAsking(t, b, ades.VerifyOptions{Roots: r.ca.Roots()})
			if diff := cmp.Diff(test.asked, r.visits.Take()); diff != "" {
				t.Error(diff)
			}
			format := "XAdES-BASELINE-" + test.level.String()
			missing, passed := outcome{format, ades.Indeterminate, test.missing}, outcome{format, ades.TotalPassed, ""}
			if diff := cmp.Diff([]outcome{missing, missing, missing}, outcomesOf(offline)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]outcome{passed, passed, passed}, outcomesOf(got)); diff != "" {
				t.Errorf("%s%v", diff, got[0].Problems)
			}
		})
	}
}

// What is fetched may say that the certificate is revoked. Nothing can be had of a responder that is down, nor
// is anything asked about the certificates of strangers.
func TestVerifyFetchesTheWorst(t *testing.T) {
	t.Parallel()
	r := newReachable(t)
	r.signer.Chain = r.ca.Chain()
	b := signFor(t, []byte(contract), r.person, ades.B, xades.Options{})
	check := func(roots *sandboxca.Authority, want ades.SubIndication) ades.SignatureReport {
		t.Helper()
		got := verifyAsking(t, b, ades.VerifyOptions{Roots: roots.Roots()})
		if diff := cmp.Diff([]outcome{{"XAdES-BASELINE-B", ades.Indeterminate, want}}, outcomesOf(got)); diff != "" {
			t.Error(diff)
		}
		return got[0]
	}
	check(newAuthority(t), ades.NoCertificateChainFound)
	if visits := r.visits.Take(); visits[sandboxca.PathOCSP]+visits[sandboxca.PathCRL] > 0 {
		t.Errorf("asked about a stranger: %v", visits)
	}
	r.down = true
	if said := strings.Join(check(r.ca, ades.TryLater).Warnings, " "); !strings.Contains(said, "503") {
		t.Errorf("nothing of what was asked in vain: %q", said)
	}
	r.down = false
	r.ca.Revoke(r.signer.Certificate.SerialNumber, time.Now().Add(-time.Hour), 1)
	check(r.ca, ades.RevokedNoPOE)
}
