package online

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// A name and a redirect lead to the same check as an address: it is the dialled one
// that counts. No request arrives.
func TestClientDoesNotReachThisMachine(t *testing.T) {
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, address := range []string{server.URL, "http://localhost" + port, "http://[::ffff:127.0.0.1]" + port, "http://0.0.0.0" + port, "http://2130706433" + port} {
		_, err := exchange{url: address, limit: 10, timeout: shortTimeout}.do(context.Background(), NewClient())
		if err == nil || !errors.Is(err, ErrAddress) && !strings.Contains(err.Error(), "no such host") && !strings.Contains(err.Error(), "lookup") {
			t.Errorf("%s: %v", address, err)
		}
		if errors.Is(err, ErrAddress) && errors.Is(err, ades.ErrUnavailable) {
			t.Errorf("%s: an address that is not allowed may come to be: %v", address, err)
		}
	}
	if n := arrived.Load(); n > 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// The first server stands for a public one: 127.0.0.1 is allowed, and it redirects to
// 127.0.0.2, which is not.
func TestRedirectIsGuardedToo(t *testing.T) {
	hop := httptest.NewServer(http.RedirectHandler("http://127.0.0.2:9/", http.StatusFound))
	defer hop.Close()
	client := NewClient(netip.MustParsePrefix("127.0.0.1/32"))
	_, err := exchange{url: hop.URL, limit: 10, timeout: shortTimeout}.do(context.Background(), client)
	if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "127.0.0.2") {
		t.Error(err)
	}
}
