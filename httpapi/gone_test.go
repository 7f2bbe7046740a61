package httpapi_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/signing"
)

// hangsUp lets a client hang up between its poll and the answer.
type hangsUp struct {
	httpapi.Signing
	conn atomic.Pointer[net.Conn]
}

func (h *hangsUp) Poll(ctx context.Context, account, id string, answer func(signing.Answer) error) error {
	return h.Signing.Poll(ctx, account, id, func(a signing.Answer) error {
		if conn := h.conn.Swap(nil); conn != nil {
			(*conn).Close()
			<-ctx.Done() // the server has noticed
		}
		return answer(a)
	})
}

// spec 3.6: a result whose client has disconnected is delivered at the next poll.
func TestClientThatHungUpBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	var h *hangsUp
	s := start(t, wiring{breaks: true, signing: func(real httpapi.Signing) httpapi.Signing {
		h = &hangsUp{Signing: real}
		return h
	}})
	for action, want := range map[string]int{"Success": http.StatusOK, "Cancel": http.StatusBadRequest} {
		t.Run(action, func(t *testing.T) {
			c := s.signer(t)
			c.user(person.with(fields{"action": action}))
			id := c.begin(startBody("IdpSim"))
			conn, err := s.dial(t.Context(), "tcp", c.request("GET", "/", nil).URL.Host)
			if err != nil {
				t.Fatal(err)
			}
			h.conn.Store(&conn)
			r := c.request("GET", "/api/v1/signing/"+id, nil)
			if err := r.Write(conn); err != nil {
				t.Fatal(err)
			}
			var one [1]byte
			if _, err := conn.Read(one[:]); err == nil {
				t.Fatal("the client that hung up got an answer")
			}
			a := c.poll(id)
			if a.status != want {
				t.Errorf("status %d, want %d", a.status, want)
			}
			c.wantFinished(id)
		})
	}
}
