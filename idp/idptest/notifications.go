package idptest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
)

// mostOfBody is how much of a notification a provider may read. OpenID CIBA Core 10.2 needs a
// hundred bytes.
const mostOfBody = 4 << 20

var notifications = []rule{
	{name: "a notification is about the conversation that it names", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
		c, other := waiting(t, b, m), waiting(t, b, m)
		key, authentic := notified(t, b, c)
		if key != c.key {
			t.Errorf("the key is Begin's, but %q", key)
		}
		for name, stranger := range map[string]idp.State{"another conversation": other.state(), "nobody": {}, "another provider": {Provider: "another", Key: c.key}} {
			if authentic(stranger) {
				t.Errorf("the notification is not one for the State of %s", name)
			}
		}
		if !authentic(c.state()) {
			t.Error("the notification is one for the State of its conversation")
		}
	}},

	{name: "a notification of an earlier conversation with the key is not authentic", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
		c := waiting(t, b, m)
		_, authentic := notified(t, b, c)
		again := talk(t, b, m, Approves)
		again.key = c.key
		must[idp.Waiting](again)
		if authentic(again.state()) {
			t.Error("each conversation has a secret of its own")
		}
	}},

	{name: "what is no notification is refused", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
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

	{name: "a notification is read as far as one may be long", needs: []Need{Notifies}, when: notifies, test: func(t testing.TB, b Backend, m idp.Method) {
		r, endless := b.Notification(t, waiting(t, b, m).state()), &blank{}
		r.Body, r.ContentLength = io.NopCloser(endless), -1
		b.Provider.(idp.Notifier).Notification(r)
		if endless.read >= mostOfBody {
			t.Error("a body without an end is given up")
		}
	}},
}

func notifies(b Backend, _ idp.Method) bool {
	_, ok := b.Provider.(idp.Notifier)
	return ok
}

// waiting is a conversation that waits for the person.
func waiting(t testing.TB, b Backend, m idp.Method) *conversation {
	t.Helper()
	c := talk(t, b, m, Approves)
	must[idp.Waiting](c)
	return c
}

// notified has the notification of a conversation read.
func notified(t testing.TB, b Backend, c *conversation) (key string, authentic func(idp.State) bool) {
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

// blank is a body of mostOfBody blanks, which may stand before any JSON, and counts those read.
type blank struct{ read int }

func (b *blank) Read(p []byte) (int, error) {
	if b.read >= mostOfBody {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	b.read += len(p)
	return len(p), nil
}
