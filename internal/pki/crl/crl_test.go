package crl

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// RFC 5280 5.1 to 5.3, as crypto/x509 writes them.
func TestListIsReadAsWritten(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	good, bad := certify(t, "good", ca, nil), certify(t, "bad", ca, nil)
	l, err := Parse(create(t, ca, nil, bad))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(ca.cert); err != nil {
		t.Error(err)
	}
	if !l.ThisUpdate.Equal(now) || !l.NextUpdate.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v", l)
	}
	if e, err := l.Find(good.cert); e != nil || err != nil {
		t.Errorf("good: %+v, %v", e, err)
	}
	if e, err := l.Find(bad.cert); err != nil || e == nil || e.Reason != 1 || !e.RevokedAt.Equal(now.Add(-time.Minute)) {
		t.Errorf("revoked: %+v, %v", e, err)
	}
	if _, err := l.Find(certify(t, "elsewhere", nil, nil).cert); !errors.Is(err, ErrScope) {
		t.Errorf("of another issuer: %v", err)
	}
}

// RFC 5280 5.1.2: what is optional, and version 1.
func TestOptionalFields(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	five := *ca.cert
	five.RawIssuer, five.SerialNumber = ca.cert.RawSubject, big.NewInt(5)
	for version := range 2 {
		l, err := Parse(assemble(t, ca, version, nil))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := l.Find(&five); e != nil || err != nil || !l.NextUpdate.IsZero() || l.Verify(ca.cert) != nil {
			t.Errorf("an empty list: %+v, %v", e, err)
		}
		l, err = Parse(assemble(t, ca, version, []cryptobyte.BuilderContinuation{entry(4, now, 0), entry(5, now, 6), entry(6, now, 0)}))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := l.Find(&five); err != nil || e == nil || e.Reason != 6 || !e.RevokedAt.Equal(now) {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if _, err := Parse(assemble(t, ca, 2, nil)); !errors.Is(err, ErrFormat) {
		t.Errorf("version 3: %v", err)
	}
}

// RFC 5280 6.3.3 f and g: who may have issued a list.
func TestWhoIssued(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	encoded := create(t, ca, nil)
	edited := func(change func(*x509.Certificate)) *x509.Certificate { // the name and key of ca
		c := *ca.cert
		change(&c)
		return &c
	}
	for _, row := range []struct {
		name   string
		issuer *x509.Certificate
		want   error
	}{
		{"the issuer", ca.cert, nil},
		{"another", certify(t, "another CA", nil, isAuthority).cert, ErrIssuer},
		{"another of the same name", certify(t, "CA", nil, isAuthority).cert, ErrIssuer},
		{"another key, not identified", edited(func(c *x509.Certificate) {
			c.SubjectKeyId, c.PublicKey = nil, certify(t, "CA", nil, nil).cert.PublicKey
		}), ades.ErrValue},
		{"one that may not issue lists", edited(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCertSign }), ErrIssuer},
		{"one without key usage", edited(func(c *x509.Certificate) { c.KeyUsage = 0 }), nil},
		{"one that had expired", edited(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Second) }), ades.ErrOutsideValidity},
		{"one that was not valid yet", edited(func(c *x509.Certificate) { c.NotBefore = now.Add(time.Second) }), ades.ErrOutsideValidity},
	} {
		t.Run(row.name, func(t *testing.T) {
			l, err := Parse(encoded)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Verify(row.issuer); !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Errorf("%v, want %v", err, row.want)
			}
		})
	}
}

// No byte of a list may be changed.
func TestChangedLists(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	whole := create(t, ca, nil, certify(t, "bad", ca, nil))
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= 0x01
		if l, err := Parse(changed); err == nil && l.Verify(ca.cert) == nil {
			t.Errorf("byte %d of %d may be changed", i, len(whole))
		}
		if _, err := Parse(whole[:i]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
	if _, err := Parse(append(whole, 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte after the list: %v", err)
	}
}

// RFC 5280 5.2 and 6.3.3 b: extensions say for what a list is. The contents of an
// IssuingDistributionPoint are in hexadecimal.
func TestScope(t *testing.T) {
	const place = "http://example.is/crl" // 21 bytes
	ca := certify(t, "CA", nil, isAuthority)
	user := certify(t, "user", ca, func(c *x509.Certificate) { c.CRLDistributionPoints = []string{place} })
	sub := certify(t, "CA below", ca, isAuthority)
	point := func(contents string) der.Extension {
		value, err := hex.DecodeString(fmt.Sprintf("30%02x", len(contents)/2) + contents)
		if err != nil {
			t.Fatal(err)
		}
		return der.Extension{ID: oidDistributionPoint, Critical: true, Value: value}
	}
	named := "a019a0178615" + hex.EncodeToString([]byte(place))
	for _, row := range []struct {
		name      string
		extension der.Extension
		user, sub error // of Find, or of Parse
	}{
		{"everything", point(""), nil, nil},
		{"users", point("8101ff"), nil, ErrScope},
		{"authorities", point("8201ff"), ErrScope, nil},
		{"neither, said in false", point("810100820100"), nil, nil},
		{"some reasons", point("83020640"), ErrScope, ErrScope},
		{"indirect", point("8401ff"), ErrScope, ErrScope},
		{"attribute certificates", point("8501ff"), ErrScope, ErrScope},
		{"the place that the certificate names", point(named), nil, ErrScope},
		{"another place", point(strings.Replace(named, "6578", "6579", 1)), ErrScope, ErrScope},
		{"a place relative to the issuer", point("a002a100"), ErrScope, ErrScope},
		{"flags in disorder", point("8201ff8101ff"), ErrFormat, ErrFormat},
		{"a flag of two bytes", point("8102ffff"), ErrFormat, ErrFormat},
		{"many places", point("a022a020" + strings.Repeat("8600", maxURIs)), ErrScope, ErrScope},
		{"more places than are read", point("a024a022" + strings.Repeat("8600", maxURIs+1)), ErrFormat, ErrFormat},
		{"a delta list", der.Extension{ID: oidDelta, Critical: true, Value: []byte{2, 1, 1}}, ErrScope, ErrScope},
		{"a critical extension that is not known", der.Extension{ID: oid(1, 2, 3), Critical: true}, ErrScope, ErrScope},
		{"one that is not critical", der.Extension{ID: oid(1, 2, 3)}, nil, nil},
		{"what stays when it expires", der.Extension{ID: oidExpiredOnList, Value: []byte("\x18\x0f20200101000000Z")}, nil, nil},
		{"what stays when it expires, since no time", der.Extension{ID: oidExpiredOnList, Value: []byte{5, 0}}, ErrFormat, ErrFormat},
		{"a number that is none", der.Extension{ID: oidNumber, Value: []byte{5, 0}}, ErrFormat, ErrFormat},
		{"a number of many bytes", der.Extension{ID: oidNumber, Value: append([]byte{2, maxNumber}, bytes.Repeat([]byte{1}, maxNumber)...)}, ErrFormat, ErrFormat},
	} {
		t.Run(row.name, func(t *testing.T) {
			l, err := Parse(assemble(t, ca, 1, nil, row.extension))
			for cert, want := range map[*x509.Certificate]error{user.cert: row.user, sub.cert: row.sub} {
				got := err
				if got == nil {
					_, got = l.Find(cert)
				}
				if !errors.Is(got, want) || (got == nil) != (want == nil) {
					t.Errorf("%s: %v, want %v", cert.Subject, got, want)
				}
			}
		})
	}
}

// A list that cannot be read through says nothing, wherever the fault is.
func TestEntriesThatCannotBeRead(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	asked := *ca.cert
	asked.RawIssuer, asked.SerialNumber = ca.cert.RawSubject, big.NewInt(5)
	critical := func(serial int64) cryptobyte.BuilderContinuation {
		return func(b *cryptobyte.Builder) {
			b.AddASN1Int64(serial)
			b.AddASN1UTCTime(now)
			b.AddASN1(0x30, der.Extension{ID: oid(2, 5, 29, 29), Critical: true, Value: []byte{0x30, 0}}.Append)
		}
	}
	noSerial := func(b *cryptobyte.Builder) { b.AddASN1NULL() }
	noTime := func(b *cryptobyte.Builder) { b.AddASN1Int64(5) }
	for _, row := range []struct {
		name    string
		entries []cryptobyte.BuilderContinuation
		want    error
	}{
		{"before", []cryptobyte.BuilderContinuation{noSerial, entry(5, now, 0)}, ErrFormat},
		{"after", []cryptobyte.BuilderContinuation{entry(5, now, 0), noSerial}, ErrFormat},
		{"itself, no time", []cryptobyte.BuilderContinuation{noTime}, ErrFormat},
		{"itself, a critical extension (5.3.3)", []cryptobyte.BuilderContinuation{critical(5)}, ErrScope},
		{"another, a critical extension (5.3)", []cryptobyte.BuilderContinuation{critical(6)}, ErrScope},
	} {
		l, err := Parse(assemble(t, ca, 1, row.entries))
		if err != nil {
			t.Fatal(err)
		}
		if e, err := l.Find(&asked); e != nil || !errors.Is(err, row.want) {
			t.Errorf("%s: %+v, %v", row.name, e, err)
		}
	}
}

// openssl's list, with reasons and dates that it prints.
func TestListOfOpenSSL(t *testing.T) {
	openssl, folder := testenv.Program(t, "openssl"), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(openssl, args...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	config := "[ca]\ndefault_ca=a\n[a]\ndatabase=index\ncrlnumber=number\ndefault_md=sha384\ndefault_crl_days=30\ncrl_extensions=x\n" +
		"[x]\nauthorityKeyIdentifier=keyid\n[req]\ndistinguished_name=d\n[d]\n"
	index := "V\t400101000000Z\t\t05\tunknown\t/CN=five\nR\t400101000000Z\t200102030405Z,keyCompromise\t1234\tunknown\t/CN=revoked\n" +
		"R\t400101000000Z\t210102030405Z\tFF01\tunknown\t/CN=too\n"
	for name, content := range map[string]string{"config": config, "index": index, "number": "0A"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "cert", "-subj", "/CN=openssl", "-days", "30", "-config", "config",
		"-addext", "keyUsage=cRLSign,keyCertSign", "-addext", "subjectKeyIdentifier=hash", "-addext", "basicConstraints=critical,CA:TRUE")
	run("ca", "-config", "config", "-gencrl", "-keyfile", "key", "-cert", "cert", "-out", "list.pem")
	run("crl", "-in", "list.pem", "-outform", "DER", "-out", "list")
	run("x509", "-in", "cert", "-outform", "DER", "-out", "cert.der")
	issuer, err := x509.ParseCertificate(readFile(t, folder, "cert.der"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Parse(readFile(t, folder, "list"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(issuer); err != nil {
		t.Error(err)
	}
	for serial, want := range map[int64]*Entry{
		0x05: nil, 0x34: nil,
		0x1234: {time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), 1},
		0xff01: {time.Date(2021, 1, 2, 3, 4, 5, 0, time.UTC), 0},
	} {
		cert := &x509.Certificate{RawIssuer: issuer.RawSubject, SerialNumber: big.NewInt(serial)}
		got, err := l.Find(cert)
		if err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%x: %+v, %v", serial, got, err)
		}
	}
}

func readFile(t *testing.T, folder, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
