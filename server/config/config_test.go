package config

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/server"
)

// Where a server listens is for its operator to say, but in a trial it is this machine alone.
func TestWhereServersListen(t *testing.T) {
	for listen, trial := range map[string]string{
		":8080": "127.0.0.1:8080", "127.0.0.1:8080": "127.0.0.1:8080", "localhost:0": "localhost:0", "[::1]:8080": "[::1]:8080",
		"127.7.7.7:8080": "127.7.7.7:8080", "[::ffff:127.0.0.1]:80": "[::ffff:127.0.0.1]:80",
		"0.0.0.0:8080": "", "[::]:8080": "", "192.0.2.7:8080": "", "sign.example:80": "", "localhost.sign.example:80": "",
	} {
		for simulated, want := range map[bool]string{false: listen, true: trial} {
			var found Faults
			c := Flags{Listen: listen, Simulated: simulated}
			c.checkAddresses(&found)
			switch got := c.listen(); {
			case want == "":
				if found.Err() == nil || !strings.Contains(found.Err().Error(), "--listen: must be on this machine") {
					t.Errorf("%s: %v", listen, found.Err())
				}
			case found.Err() != nil || got != want:
				t.Errorf("%s, trial %v: %s, want %s; %v", listen, simulated, got, want, found.Err())
			}
		}
	}
}

// An address that no server can listen on is a fault of the configuration.
func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:nosuchservice", ":-1"} {
		c := Flags{Listen: address, AdminListen: address, BaseURL: "http://localhost", Environment: "sandbox", Store: "bolt:x"}
		_, found := Read(c, nil, nil)
		for _, flag := range []string{"--listen: ", "--admin-listen: "} {
			if err := found.Err(); err == nil || !strings.Contains(err.Error(), flag) {
				t.Errorf("%s%q: %v", flag, address, err)
			}
		}
	}
}

func TestStoresThatAreNone(t *testing.T) {
	for _, store := range []string{"", "bolt:", "bolt:x?y", "mysql://db/x", "postgres://host:port/db", "postgres://db/x?sslmode=bogus", "postgres://[db/x"} {
		if _, err := ParseStore(store, DatabaseFlag{}); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), StoreForms) {
			t.Errorf("%q: %v", store, err)
		}
	}
	for _, store := range []string{"bolt:x", "bolt:x?documents=y", "postgres://localhost/x", "postgresql://me@db:5433/x?sslmode=verify-full"} {
		if _, err := ParseStore(store, DatabaseFlag{}); err != nil {
			t.Errorf("%q: %v", store, err)
		}
	}
}

// Production in the clear, for others than this machine, is what an operator is told of.
func TestPlainListening(t *testing.T) {
	for _, test := range []struct {
		listen string
		conf   Config
		want   bool
	}{
		{listen: "127.0.0.1:80"},
		{listen: "[::1]:80"},
		{listen: ":8080", want: true},
		{listen: "0.0.0.0:8080", want: true},
		{listen: "192.0.2.1:8080", want: true},
		{listen: "192.0.2.1:8080", conf: Config{tls: new(tlsFiles)}},
		{listen: ":8080", conf: Config{File: File{AtStart: AtStart{proxies: server.Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")}}}}}},
		{listen: ":8080", conf: Config{Flags: Flags{Environment: "sandbox"}}},
	} {
		test.conf.Flags.Listen = test.listen
		if test.conf.Flags.Environment == "" {
			test.conf.Flags.Environment = "production"
		}
		if got := test.conf.Exposed(); got != test.want {
			t.Errorf("%s in %s: %t", test.listen, test.conf.Flags.Environment, got)
		}
	}
}

func TestDrainDelays(t *testing.T) {
	for delay, right := range map[time.Duration]bool{0: true, time.Second: true, maxDrain: true, -1: false, maxDrain + 1: false} {
		_, found := Read(Flags{Environment: "sandbox", Listen: ":80", Store: "bolt:x", DrainDelay: delay}, nil, nil)
		if (found.Err() == nil) != right {
			t.Errorf("%v: %v", delay, found.Err())
		}
	}
}

func TestOrLoopback(t *testing.T) {
	for address, want := range map[string]string{":9464": "127.0.0.1:9464", "[::1]:9464": "[::1]:9464", "0.0.0.0:9464": "0.0.0.0:9464", "9464": "9464", "": ""} {
		if got := orLoopback(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// A variable that resembles one of the program's is misspelt; those that Kubernetes sets for a service, and those of
// tests, are none of its.
func TestVariables(t *testing.T) {
	known := []string{"INNSIGLI_BASE_URL", "INNSIGLI_STORE", "INNSIGLI_LISTEN", "INNSIGLI_MAIL", "INNSIGLI_LOG_LEVEL", "INNSIGLI_CONFIG"}
	for name, want := range map[string]string{
		"INNSIGLI_BASEURL": "INNSIGLI_BASE_URL", "INNSIGLI_base_url": "INNSIGLI_BASE_URL", "INNSIGLI_BASE_ULR": "INNSIGLI_BASE_URL",
		"INNSIGLI_STROE": "INNSIGLI_STORE", "INNSIGLI_LOGLEVEL": "INNSIGLI_LOG_LEVEL", "INNSIGLI_CONFG": "INNSIGLI_CONFIG",
		"INNSIGLI_STORE": "", "BASEURL": "", "INNSIGLI": "", "INNSIGLI_": "", "INNSIGLI_ANOTHER_PROGRAM": "",
		"INNSIGLI_SERVICE_HOST": "", "INNSIGLI_SERVICE_PORT": "", "INNSIGLI_SERVICE_PORT_HTTPS": "", "INNSIGLI_PORT": "", "INNSIGLI_PORT_8080_TCP": "",
		"INNSIGLI_PORT_8080_TCP_ADDR": "", "INNSIGLI_STORES_SERVICE_HOST": "", "INNSIGLI_STORES_PORT_5432_TCP_PROTO": "",
		"INNSIGLI_CORPUS": "", "INNSIGLI_TOOLS": "", "INNSIGLI_NO_SKIP": "", "INNSIGLI_FULL": "", "INNSIGLI_TRACE": "", "INNSIGLI_SCENE": "", "INNSIGLI_GOLDEN": "", "INNSIGLI_KILLS": "",
	} {
		var found, expected Faults
		if want != "" {
			expected.add(name, "is unknown; %s exists", want)
		}
		if checkVariables([]string{name + "=x"}, known, &found); !slices.Equal(found, expected) {
			t.Errorf("%s: %q, want %q", name, found, expected)
		}
	}
}
