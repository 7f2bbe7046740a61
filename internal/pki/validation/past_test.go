package validation_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// verdict is what a signature comes to.
type verdict struct {
	indication    ades.Indication
	subIndication ades.SubIndication
}

// pastFile is a signed file, and what became of those behind it.
type pastFile struct {
	format
	*world
	level ades.Level
	event string
	b     []byte
}

// who is whose certificate is revoked, by which authority.
type who struct {
	name string
	of   func(*world) (*sandboxca.Authority, *big.Int)
}

var everybody = []who{
	{"signer", func(w *world) (*sandboxca.Authority, *big.Int) { return w.signing, w.signer.Certificate.SerialNumber }},
	{"issuer", func(w *world) (*sandboxca.Authority, *big.Int) { return w.signing, w.signing.Chain()[0].SerialNumber }},
	{"timestamp authority", func(w *world) (*sandboxca.Authority, *big.Int) { return w.stamping, w.unit.Certificate.SerialNumber }},
	{"issuer of that", func(w *world) (*sandboxca.Authority, *big.Int) { return w.stamping, w.stamping.Chain()[0].SerialNumber }},
}

// foundOut is when the validation data was collected that says of a revocation.
const foundOut = 10 * day

// files are those that were signed and raised without incident, so long after the signature.
func (f format) files(t *testing.T, w *world, event string, collected time.Duration) []pastFile {
	t.Helper()
	stamped := f.sign(t, w, ades.T)
	evident := f.extend(t, stamped, ades.LT, w.sources(collected))
	archived := f.extend(t, evident, ades.LTA, w.sources(collected+time.Minute))
	return []pastFile{
		{f, w, ades.B, event, f.sign(t, w, ades.B)}, {f, w, ades.T, event, stamped},
		{f, w, ades.LT, event, evident}, {f, w, ades.LTA, event, archived},
	}
}

// revokedFiles are those of which the data says that somebody was revoked: as it was collected, or put beside what
// was collected before.
func (f format) revokedFiles(t *testing.T, w *world, of who, after time.Duration, reason int) []pastFile {
	t.Helper()
	event := fmt.Sprintf("%s %v later", of.name, after)
	if reason == onHold {
		event += ", on hold"
	}
	authority, serial := of.of(w)
	revoke := func() { authority.Revoke(serial, w.signed.Add(after), reason) }
	if of.name == "signer" && after > 0 {
		revoke()
		return f.files(t, w, event, foundOut)[2:]
	}
	if f.persist == nil {
		return nil
	}
	b := f.extend(t, f.sign(t, w, ades.T), ades.LT, w.sources(time.Minute))
	revoke()
	var lists [][]byte
	for _, list := range []func(time.Time) ([]byte, error){authority.CRL, authority.RootCRL} {
		der, err := list(w.signed.Add(foundOut))
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, der)
	}
	return []pastFile{{f, w, ades.LT, event, f.persist(t, b, lists...)}}
}

const (
	keyCompromise = 1
	onHold        = 6
)

// pastFiles are of signers and timestamp authorities in force for so long since.
func pastFiles(t *testing.T, signer, stamper time.Duration) (all []pastFile) {
	t.Helper()
	for _, f := range formats {
		all = append(all, f.files(t, newWorld(t, signer, stamper), "", time.Minute)...)
		for _, of := range everybody {
			for _, after := range []time.Duration{-time.Hour, time.Hour} {
				for _, reason := range []int{keyCompromise, onHold} {
					all = append(all, f.revokedFiles(t, newWorld(t, signer, stamper), of, after, reason)...)
				}
			}
		}
	}
	return all
}

// EN 319 102-1 5.5 and 5.6: what comes of signatures of every level, of which somebody expired or was revoked, when
// they are judged before and after each of these times. EU DSS says the same, but for the differences that are
// listed; and what does not pass there, does not pass here.
func TestPastSignaturesAsEUDSS(t *testing.T) {
	t.Parallel()
	const year = 365 * day
	pastValidation := [][2]time.Duration{{100 * day, 5 * year}, {5 * year, 300 * day}, {400 * day, 60 * day}, {100 * day, 300 * day}}
	every := 1
	if !testenv.Full() {
		pastValidation, every = pastValidation[:1], 23
	}
	judged, seen := 0, make(map[string]bool)
	for _, l := range pastValidation {
		for _, f := range pastFiles(t, l[0], l[1]) {
			path := filepath.Join(t.TempDir(), "signed."+f.name)
			if err := os.WriteFile(path, f.b, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, after := range []time.Duration{
				-36 * time.Hour, 2 * time.Minute, 20 * day, 70 * day, 110 * day, 310 * day, 370 * day, 420 * day, 3 * year, 6 * year, 11 * year, 22 * year,
			} {
				if judged++; judged%every == 0 {
					seen[f.compare(t, path, after)] = true
				}
			}
		}
	}
	for _, d := range differences {
		if testenv.Full() && !seen[d.reason] {
			t.Errorf("there is no such difference any more: %s", d.reason)
		}
	}
}

// compare judges a file so long after it was signed, and returns why EU DSS says something else, if it does.
func (f pastFile) compare(t *testing.T, path string, after time.Duration) string {
	t.Helper()
	at := f.signed.Add(after)
	name := fmt.Sprintf("%s %v, %q, signer to %v and timestamps to %v, %v later", f.format.name, f.level, f.event,
		f.signer.Certificate.NotAfter.Sub(f.signed), f.unit.Certificate.NotAfter.Sub(f.signed), after)
	theirs := validators.DSS(t, validators.DSSOptions{Roots: f.roots(), At: at}, path)[0]
	report := f.verify(t, f.b, f.world, at)
	ours, foreign := verdict{report.Indication, report.SubIndication}, verdict{}
	for _, s := range theirs.Signatures {
		foreign = verdict{ades.Indication(s.Indication), ades.SubIndication(s.SubIndication)}
	}
	if ours == foreign {
		return ""
	}
	reason := reasonOf(f, ours, foreign)
	if passed := ours == totalPassed && foreign != (verdict{}); reason == "" || passed { // an exception is no verdict
		t.Errorf("%s: %v, EU DSS %v: %q %+v", name, ours, foreign, report.Problems, theirs)
	}
	return reason
}
