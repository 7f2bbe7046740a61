package main

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Where a server listens is for its operator to say, but in a trial it is this machine alone.
func TestWhereServersListen(t *testing.T) {
	for listen, trial := range map[string]string{
		":8080": "127.0.0.1:8080", "127.0.0.1:8080": "127.0.0.1:8080", "localhost:0": "localhost:0", "[::1]:8080": "[::1]:8080",
		"127.7.7.7:8080": "127.7.7.7:8080", "[::ffff:127.0.0.1]:80": "[::ffff:127.0.0.1]:80",
		"0.0.0.0:8080": "", "[::]:8080": "", "192.0.2.7:8080": "", "sign.example:80": "", "localhost.sign.example:80": "",
	} {
		for simulated, want := range map[bool]string{false: listen, true: trial} {
			var found faults
			c := serverFlags{Listen: listen, Simulated: simulated}
			c.checkListen(&found)
			switch got, err := c.address(); {
			case want == "":
				if found.err() == nil || !strings.Contains(found.err().Error(), "--listen: is not on this machine") {
					t.Errorf("%s: %v", listen, found.err())
				}
			case err != nil || found.err() != nil || got != want:
				t.Errorf("%s, trial %v: %s, want %s; %v, %v", listen, simulated, got, want, err, found.err())
			}
		}
	}
}

// What nobody can listen at is a fault of the configuration.
func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:nosuchservice", ":-1"} {
		c := serverFlags{Listen: address, AdminListen: address, BaseURL: "http://localhost", Environment: "sandbox", Store: "bolt:x"}
		_, found := c.read()
		for _, flag := range []string{"--listen: ", "--admin-listen: "} {
			if err := found.err(); err == nil || !strings.Contains(err.Error(), flag) {
				t.Errorf("%s%q: %v", flag, address, err)
			}
		}
	}
}

func TestStoresThatAreNone(t *testing.T) {
	for _, store := range []string{"", "bolt:", "bolt:x?y", "mysql://db/x", "postgres://host:port/db", "postgres://db/x?sslmode=bogus", "postgres://[db/x"} {
		if _, err := parseStore(store); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), storeForms) {
			t.Errorf("%q: %v", store, err)
		}
	}
	for _, store := range []string{"bolt:x", "bolt:x?documents=y", "postgres://db/x", "postgresql://me@db:5433/x?sslmode=require"} {
		if _, err := parseStore(store); err != nil {
			t.Errorf("%q: %v", store, err)
		}
	}
}

// A trial is there for who calls this machine by its own names, and for nobody else.
func TestTrialIsOnThisMachine(t *testing.T) {
	t.Parallel()
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--listen", ":0")
	p.run(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.BaseURL, "http://"))
	if err != nil || !strings.Contains(p.talk(), "address=127.0.0.1:"+port) {
		t.Fatalf("listens at %s, %v\n%s", p.BaseURL, err, p.logs())
	}
	for _, path := range []string{signingPath + "assets/icon.svg", trialLoginPath + "?state=one", "/.well-known/sandbox-root.pem"} {
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
