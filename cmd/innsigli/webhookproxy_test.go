package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// connectProxy passes all connections on to one address, wherever they are to go, and says where
// they were.
type connectProxy struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newConnectProxy(t *testing.T, to string) *connectProxy {
	t.Helper()
	p := new(connectProxy)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.Host)
		p.mu.Unlock()
		far, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		defer far.Close()
		near, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer near.Close()
		fmt.Fprint(near, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			io.Copy(far, buffered)
			far.Close()
		}()
		io.Copy(near, far)
	}))
	t.Cleanup(p.Close)
	return p
}

// What [webhooks] says holds: requests go through the proxy that it names and not through one of
// the environment, and an account has no more subscriptions than it may.
func TestWebhooksOfAConfiguration(t *testing.T) {
	folder := shortFolder(t)
	e := newSubscriber(t, (*httptest.Server).StartTLS)
	proxy := newConnectProxy(t, e.Listener.Addr().String())
	text := fmt.Sprintf("[webhooks]\negress-proxy = %q\nmax-subscriptions = 1\n", proxy.URL)
	if err := os.WriteFile(filepath.Join(folder, "innsigli.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, folder, "SSL_CERT_FILE="+e.trusted(t, folder), "HTTPS_PROXY=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1")
	c := p.account(t, "bolt:"+filepath.Join(folder, "store.db"))
	e.subscribe(t, c, "https://example.com"+path)
	if a := c.hook(t, http.MethodPost, "/"+e.id+"/activate", ""); a.Status != http.StatusOK || !a.Active {
		t.Errorf("activation through the proxy: %v %s", a, a.Body)
	}
	proxy.mu.Lock()
	asked := slices.Compact(slices.Clone(proxy.asked))
	proxy.mu.Unlock()
	if !slices.Equal(asked, []string{"CONNECT example.com:443"}) {
		t.Errorf("the proxy was asked for %q", asked)
	}
	if a := c.hook(t, http.MethodPost, "", subscription("https://example.com/")); a.Status != http.StatusBadRequest || a.Title != "Too many webhook subscriptions" {
		t.Errorf("one more: %v", a)
	}
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("stopping: %v, stdout %q", err, rest)
	}
}
