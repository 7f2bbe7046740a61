package page

import (
	"testing"
)

// A proxy may call the server otherwise than browsers do, also for browsers that name only the origin of
// a form; and nothing else is taken for its own then.
func TestFormsBehindAProxy(t *testing.T) {
	t.Parallel()
	d := newDoor(t) // which is called example.com in tests
	for origin, status := range map[string]int{
		d.config.BaseURL:            303,
		"https://evil.example":      403,
		"http://sign.example":       403,
		"https://sign.example:8443": 403,
	} {
		b := d.tab()
		b.header = map[string]string{"Origin": origin}
		if a := b.begin(d.link(0), "way", "app", "kennitala", annas); a.status != status {
			t.Errorf("%s: %d %s, want %d", origin, a.status, a.text(), status)
		}
	}
}

// Browsers are told to use TLS alone where there is TLS.
func TestTLSAlone(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"https://sign.example": "max-age=31536000", "http://localhost:8080": "", "": "", "://": ""} {
		d := newDoor(t, func(c *Config) { c.BaseURL = base })
		b := d.tab()
		for _, path := range []string{d.link(0), "/sign/none", "/sign/goodbye?lang=en", "/sign/assets/icon.svg"} {
			b.get(path)
			if got := b.last.Get("Strict-Transport-Security"); got != want {
				t.Errorf("%s of %q: %q, want %q", path, base, got, want)
			}
		}
	}
}

// An address that only forms are sent to leads to the page above it as the browser wrote it, whatever
// that would mean if it were decoded.
func TestAddressesAreNotDecoded(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for path, want := range map[string]string{
		"/sign/x%3Flang=en/y/sign":           "/sign/x%3Flang=en/y",
		"/sign/x%2F..%2F..%2Fy/z/sign":       "/sign/x%2F..%2F..%2Fy/z",
		"/sign/%2f%2fevil.example/x/sign":    "/sign/%2f%2fevil.example/x",
		"/sign/x%0d%0aSet-Cookie:a=b/y/sign": "/sign/x%0d%0aSet-Cookie:a=b/y",
		"/sign/x%23y/login":                  "/sign/x%23y",
	} {
		if a := d.tab().get(path); a.location != want {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.location, want)
		}
	}
}
