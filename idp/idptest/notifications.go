package idptest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
)

// maxBody is the number of bytes of a notification that a provider may read. A ping of CIBA Core 10.2 has about a
// hundred.
const maxBody = 4 << 20

var notifications = []rule{
	{name: "a notification is authentic for its conversation only", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
		c, other := waiting(t, b, m), waiting(t, b, m)
		key, authentic := readNotification(t, b, c)
		if key != c.key {
			t.Errorf("the key is Begin's, but %q", key)
		}
		for name, foreign := range map[string]idp.State{"another conversation": other.state(), "no conversation": {}, "another provider": {Provider: "another", Key: c.key}} {
			if authentic(foreign) {
				t.Errorf("the notification is not one for the State of %s", name)
			}
		}
		if !authentic(c.state()) {
			t.Error("the notification is one for the State of its conversation")
		}
	}},

	{name: "a notification of an earlier conversation with the same key is not authentic", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
		c := waiting(t, b, m)
		_, authentic := readNotification(t, b, c)
		again := begin(t, b, m, Approves)
		again.key = c.key
		must[idp.Waiting](again)
		if authentic(again.state()) {
			t.Error("each conversation has a secret of its own")
		}
	}},

	{name: "a request that is not a notification is refused", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
		c := waiting(t, b, m)
		stripped := b.Notification(t, c.state())
		stripped.Header = http.Header{}
		stripped.URL.RawQuery = ""
		for name, r := range map[string]*http.Request{"without its header": stripped, "with nothing in it": request(http.NoBody), "with a word in it": request(strings.NewReader("hello"))} {
			_, authentic, err := b.Provider.(idp.Notifier).Notification(r)
			if err == nil && authentic(c.state()) {
				t.Errorf("a request %s is no notification", name)
			}
		}
	}},

	{name: "a notification of unlimited length is not read to the end", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
		r, endless := b.Notification(t, waiting(t, b, m).state()), &blanks{}
		r.Body, r.ContentLength = io.NopCloser(endless), -1
		b.Provider.(idp.Notifier).Notification(r)
		if endless.read >= maxBody {
			t.Error("a body without an end is given up")
		}
	}},
}

// notifies reports whether the provider receives notifications.
func notifies(b Backend, _ idp.Method) bool {
	_, ok := b.Provider.(idp.Notifier)
	return ok
}

// waiting returns a conversation that waits for the person.
func waiting(t testing.TB, b Backend, m idp.Method) *conversation {
	t.Helper()
	c := begin(t, b, m, Approves)
	must[idp.Waiting](c)
	return c
}

// readNotification passes the notification for a conversation to the provider.
func readNotification(t testing.TB, b Backend, c *conversation) (key string, authentic func(idp.State) bool) {
	t.Helper()
	key, authentic, err := b.Provider.(idp.Notifier).Notification(b.Notification(t, c.state()))
	if err != nil {
		t.Fatalf("the provider's notification: %v", err)
	}
	return key, authentic
}

func request(body io.Reader) *http.Request {
	r, err := http.NewRequest(http.MethodPost, "/", body)
	if err != nil {
		panic(err) // the arguments are constants
	}
	return r
}

// blanks is a body of maxBody spaces, which JSON may begin with. It counts the bytes read.
type blanks struct{ read int }

func (b *blanks) Read(p []byte) (int, error) {
	if b.read >= maxBody {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	b.read += len(p)
	return len(p), nil
}
