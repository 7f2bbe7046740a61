package validation

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
)

// TestTimestamp checks what keeps a timestamp from being a POE at its time (EN 319 102-1 5.4), and the path of its
// authority.
func TestTimestamp(t *testing.T) {
	s, other, now := newScene(t), newScene(t), time.Now()
	tsa := s.stamp.Token.Certificate.Subject.CommonName
	good := []string{tsa + ": GOOD by OCSP", issuingGood, rootNotNeeded}
	for name, test := range map[string]struct {
		sum             []byte
		data            *Data
		known           *Known
		at              time.Time
		intact, trusted bool
		path            []string
	}{
		"good":               {s.sum, s.data, s.known, now, true, true, good},
		"over other data":    {make([]byte, len(s.sum)), s.data, s.known, now, false, false, nil},
		"another root":       {s.sum, s.data, other.known, now, true, false, nil},
		"no revocation data": {s.sum, new(Data), s.known, now, true, false, []string{tsa + ": UNKNOWN", issuingUnknown, rootNotNeeded}},
		"in the future":      {s.sum, s.data, s.known, now.Add(-time.Hour), true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			stamp := s.stamp
			stamp.Check(test.sum, nil)
			Validator{Data: test.data, Time: now}.Timestamp(&stamp, test.known, test.at)
			r := stamp.Report
			if r.Intact != test.intact || r.Trusted != test.trusted || (len(r.Problems) == 0) != test.trusted {
				t.Errorf("got %+v, want intact %t, trusted %t", r, test.intact, test.trusted)
			}
			if test.intact != r.JudgedAt.Equal(test.at) {
				t.Errorf("judged at %v, want %v", r.JudgedAt, test.at)
			}
			if diff := cmp.Diff(test.path, describe(t, r.Path)); diff != "" {
				t.Errorf("path, -want +got:\n%s", diff)
			}
			later, earlier := now.Add(time.Hour), r.Time.Add(-time.Hour)
			want := later
			if test.trusted {
				want = r.Time
			}
			if got := stamp.EarliestPOE(later); !got.Equal(want) {
				t.Errorf("POE before %v: got %v, want %v", later, got, want)
			}
			if got := stamp.EarliestPOE(earlier); !got.Equal(earlier) {
				t.Errorf("POE before %v: got %v, want the same", earlier, got)
			}
		})
	}
}

// TestUnreadableTimestamp checks that a malformed timestamp has a problem, and no certificates and targets.
func TestUnreadableTimestamp(t *testing.T) {
	s := newScene(t)
	bad := Read(ades.DocumentTimestamp, []byte("none"))
	if bad.Token != nil || len(bad.Report.Problems) != 1 || bad.Report.Type != ades.DocumentTimestamp {
		t.Errorf("got %+v, want a document timestamp with one problem", bad)
	}
	both := []Timestamp{bad, s.stamp}
	got := []int{len(ReadableTimestamps(both)), len(Targets(both)), len(Certificates(both))}
	if want := []int{1, 1, len(s.stamp.Token.Certificates)}; !slices.Equal(got, want) {
		t.Errorf("got %d timestamps, targets and certificates, want %d", got, want)
	}
}
