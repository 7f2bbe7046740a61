package xades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// sight is how a file is judged: whom to trust, and when.
type sight struct {
	roots []*x509.Certificate
	at    time.Time
}

// judged is when files are judged that do not say when they were signed, whenever that is done.
var judgedAt = time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)

// sightsOf are those by which most files would pass: each file's own authorities are trusted, at the time that it
// speaks of last, when certificates were valid. Revocation data may be missing then.
func sightsOf(t *testing.T, paths []string) (all []sight) {
	t.Helper()
	for _, path := range paths {
		b := readFile(t, path)
		all = append(all, sight{roots: anchors(embedded(b)), at: lastTime(verifyForeign(t, b, nil))})
	}
	return all
}

// lastTime is shortly after the last time that a file speaks of.
func lastTime(r *ades.Report) time.Time {
	var last time.Time
	later := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	for _, s := range r.Signatures {
		later(s.ClaimedTime)
		for _, stamp := range s.Timestamps {
			later(stamp.Time)
		}
	}
	if last.IsZero() || last.After(judgedAt) {
		return judgedAt
	}
	return last.Add(time.Minute).Truncate(time.Second)
}

var encapsulated = regexp.MustCompile(`(?s)<[\w:]*(X509Certificate|EncapsulatedX509Certificate|EncapsulatedTimeStamp)\b[^>]*>([^<]*)<`)

// embedded are the certificates in a file, in KeyInfo, in validation data and in timestamps, each once.
func embedded(b []byte) (all []*x509.Certificate) {
	for _, match := range encapsulated.FindAllSubmatch(b, -1) {
		der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(match[2]), nil)))
		if err != nil {
			continue
		}
		if c, err := x509.ParseCertificate(der); err == nil {
			all = append(all, c)
		} else if token, err := tsp.ParseToken(der); err == nil {
			all = append(all, token.Certificates...)
		}
	}
	return eachOnce(all)
}

func eachOnce(all []*x509.Certificate) []*x509.Certificate {
	slices.SortFunc(all, func(a, b *x509.Certificate) int { return bytes.Compare(a.Raw, b.Raw) })
	return slices.CompactFunc(all, (*x509.Certificate).Equal)
}

// anchors are the certificates that end the chains of a file: who signed himself, and authorities whose
// own is not there.
func anchors(all []*x509.Certificate) []*x509.Certificate {
	return slices.DeleteFunc(slices.Clone(all), func(c *x509.Certificate) bool {
		there := slices.ContainsFunc(all, func(by *x509.Certificate) bool { return bytes.Equal(by.RawSubject, c.RawIssuer) })
		return !isSelfSigned(c) && (there || !c.IsCA)
	})
}

func isSelfSigned(c *x509.Certificate) bool { return bytes.Equal(c.RawIssuer, c.RawSubject) }

func pool(roots []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range roots {
		pool.AddCert(c)
	}
	return pool
}
