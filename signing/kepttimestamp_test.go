package signing_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/signing"
)

// unanswered is a request that has its timestamp, and lacks the status of its signer.
func (n *network) unanswered(s service, level ades.Level) (id string) {
	n.t.Helper()
	n.set(responder, down)
	n.set(list, down)
	id = s.atLevel(level)
	s.pending(id, "while the responder is down")
	return id
}

// A signature has one timestamp, however often it is tried to complete it, and by
// whichever process. Level LTA has another in the end.
func TestTimestampIsKept(t *testing.T) {
	t.Parallel()
	for level, want := range map[ades.Level]int{ades.B: 0, ades.T: 1, ades.LT: 1, ades.LTA: 2} {
		for _, format := range []signing.Format{signing.PDF, signing.XML} {
			t.Run(level.String()+string(format), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { timestampIsKept(t, format, level, want) })
			})
		}
	}
}

func timestampIsKept(t *testing.T, format signing.Format, level ades.Level, want int) {
	n := newNetwork(t)
	first := n.service(n.client(tsa, n.roots))
	first.format = format
	id := n.unanswered(first, level)
	for range 5 {
		time.Sleep(time.Minute)
		first.pending(id, "still")
	}
	second := onStore(t, first.db, n.phone, n.options(n.client(tsa, n.roots)))
	time.Sleep(time.Minute)
	second.pending(id, "asking another process")
	n.restore()
	time.Sleep(time.Minute)
	n.checkLevel(second.poll(id).Document, level)
	if got := n.requests(tsa); got != want {
		t.Errorf("%d timestamps, want %d", got, want)
	}
}

// A timestamp that leads to no root is not kept: the next try gets another. One that is
// refused for that beside a good one leaves that one where it is.
func TestTimestampUnderNoRoot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		roots bool // whether the client insists on them
		bad   func(nth int) bool
		want  int // timestamps asked for, in two tries
	}{
		{"in the signature", false, func(nth int) bool { return nth == 1 }, 3},
		{"in the signature, refused", true, func(nth int) bool { return nth == 1 }, 3},
		{"over the document, refused", true, func(nth int) bool { return nth == 2 }, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				stranger, err := sandboxca.New(time.Now())
				n.must(err)
				good, bad := n.stamps(n.unit, nil, 0), n.stamps(n.newUnit(stranger, timestamping()), nil, 0)
				n.set(tsa, func(r *http.Request) (*http.Response, error) {
					if test.bad(n.requests(tsa)) {
						return bad(r)
					}
					return good(r)
				})
				client := n.client(tsa, nil)
				if test.roots {
					client = n.client(tsa, n.roots)
				}
				s := n.service(client)
				id := s.atLevel(ades.LTA)
				s.pending(id, "with a timestamp under no root")
				time.Sleep(time.Minute)
				n.checkLevel(s.poll(id).Document, ades.LTA)
				if got := n.requests(tsa); got != test.want {
					t.Errorf("%d timestamps, want %d", got, test.want)
				}
			})
		})
	}
}

// spec 3.8: revoked while its status was not to be had, though after the
// timestamp.
func TestRevokedWhileTheResponderWasDown(t *testing.T) {
	t.Parallel()
	for level, want := range map[ades.Level]idp.ErrorCode{
		ades.B: idp.CertificateIsRevoked, ades.T: idp.CertificateIsRevoked, ades.LT: delivered, ades.LTA: delivered,
	} {
		t.Run(level.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				s := n.service(n.client(tsa, n.roots))
				id := n.unanswered(s, level)
				time.Sleep(5 * time.Minute)
				n.hold(n.cert, time.Now())
				n.restore()
				r := s.poll(id)
				if r.Code != want {
					t.Fatalf("got %q, want %q", r.Code, want)
				}
				if want == delivered {
					n.checkLevel(r.Document, level)
				}
			})
		})
	}
}

// An authority whose clock is ahead stamps a time that no answer is from after: one that is in force at that time
// suffices.
func TestTimestampFromAShortWayAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		n.set(tsa, n.stamps(n.unit, nil, 30*time.Second))
		s := n.service(n.client(tsa, n.roots))
		n.checkLevel(s.poll(s.atLevel(ades.LT)).Document, ades.LT)
	})
}
