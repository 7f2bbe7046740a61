package main

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// A trial is there for who calls this machine by its own names, and for nobody else.
func TestTrialIsOnThisMachine(t *testing.T) {
	t.Parallel()
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--listen", ":0")
	p.run(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.BaseURL, "http://"))
	if err != nil || !strings.Contains(p.talk(), "address=127.0.0.1:"+port) {
		t.Fatalf("listens at %s, %v\n%s", p.BaseURL, err, p.logs())
	}
	for _, path := range []string{"/sign/assets/icon.svg", "/simulated/login?state=one", "/.well-known/sandbox-root.pem"} {
		for host, status := range map[string]int{
			"localhost": http.StatusOK, "localhost:" + port: http.StatusOK, "127.0.0.1": http.StatusOK, "[::1]:" + port: http.StatusOK,
			"sign.example": http.StatusMisdirectedRequest, "sign.example:" + port: http.StatusMisdirectedRequest,
			"localhost.sign.example": http.StatusMisdirectedRequest, "192.0.2.7": http.StatusMisdirectedRequest,
			"0.0.0.0:" + port: http.StatusMisdirectedRequest, "localhost@sign.example": http.StatusMisdirectedRequest,
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != status {
				t.Errorf("%s of %s: %s", path, host, response.Status)
			}
		}
	}
}
