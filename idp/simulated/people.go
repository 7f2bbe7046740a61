package simulated

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
)

const (
	backdate = 5 * time.Minute // for clocks that are slow
	validity = 365 * 24 * time.Hour
)

// deriveKey derives a P-256 key from the seed (RFC 5869). It repeats the derivation in the rare case that 32 bytes
// are not a valid key.
func (p *Provider) deriveKey(owner string) (*ecdsa.PrivateKey, error) {
	for try := range 8 {
		scalar, err := hkdf.Key(sha256.New, p.options.Seed, nil, fmt.Sprint("innsigli simulated key ", try, " ", owner), 32)
		if err != nil {
			return nil, fmt.Errorf("simulated: deriving a key: %w", err)
		}
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar); err == nil {
			return key, nil
		}
	}
	return nil, errors.New("simulated: the seed gives no key")
}

// certify adds a new certificate for the person to the conversation.
func (p *Provider) certify(c *conversation) error {
	key, err := p.deriveKey(c.Kennitala)
	if err != nil {
		return err
	}
	issue := p.options.Issue
	if issue == nil {
		issue = p.issue
	}
	if c.chain, err = issue(p.options.Name(c.Kennitala), c.Kennitala, key.Public()); err != nil {
		return fmt.Errorf("simulated: issuing the person's certificate: %w", err)
	}
	if len(c.chain) == 0 || slices.Contains(c.chain, nil) || !key.PublicKey.Equal(c.chain[0].PublicKey) {
		return errors.New("simulated: Options.Issue gave no certificate for the key")
	}
	for _, certificate := range c.chain {
		c.Certificates = append(c.Certificates, certificate.Raw)
	}
	return nil
}

// sign signs the digests of a conversation.
func (p *Provider) sign(c conversation) ([][]byte, error) {
	key, err := p.deriveKey(c.Kennitala)
	if err != nil {
		return nil, err
	}
	if !key.PublicKey.Equal(c.chain[0].PublicKey) {
		return nil, errors.New("simulated: the state was made by a Provider with another seed")
	}
	if err := c.check(c.Digests); err != nil {
		return nil, err
	}
	return signAll(key, c.Digests)
}

func signAll(key crypto.Signer, digests []ades.Digest) (values [][]byte, err error) {
	for _, d := range digests {
		value, err := key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
		if err != nil {
			return nil, fmt.Errorf("simulated: signing: %w", err)
		}
		values = append(values, value)
	}
	return values, nil
}

// Root returns the root certificate of the Provider's own authority, or nil with [Options].Issue. It is always the
// same for a seed.
func (p *Provider) Root() *x509.Certificate { return p.root }

// createRoot creates the root certificate. It depends only on the seed: without a source of randomness the signature is
// deterministic, too.
func (p *Provider) createRoot() error {
	key, err := p.deriveKey("root")
	if err != nil {
		return err
	}
	p.root, err = createCertificate(nil, &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{Country: []string{"IS"}, Organization: []string{"Innsigli Simulation"}, CommonName: "Simulated Root"},
		NotBefore:             time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280 4.1.2.5: no end
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}, nil, key.Public(), key)
	return err
}

// issue issues a person's certificate under the root. Its serialNumber is the kennitala, as in Icelandic certificates.
func (p *Provider) issue(name, kennitala string, public crypto.PublicKey) ([]*x509.Certificate, error) {
	key, err := p.deriveKey("root")
	if err != nil {
		return nil, err
	}
	now := time.Now()
	issued, err := createCertificate(rand.Reader, &x509.Certificate{
		Subject:   pkix.Name{Country: []string{"IS"}, CommonName: name, SerialNumber: kennitala},
		NotBefore: now.Add(-backdate),
		NotAfter:  now.Add(validity),
		KeyUsage:  x509.KeyUsageContentCommitment,
	}, p.root, public, key)
	if err != nil {
		return nil, err
	}
	return []*x509.Certificate{issued, p.root}, nil
}

// createCertificate issues a certificate; without an issuer it is self-signed.
func createCertificate(random io.Reader, template, issuer *x509.Certificate, public crypto.PublicKey, by crypto.Signer) (*x509.Certificate, error) {
	if issuer == nil {
		issuer = template
	}
	der, err := x509.CreateCertificate(random, template, issuer, public, by)
	if err != nil {
		return nil, fmt.Errorf("simulated: issuing a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

// defaultName returns the name of all people for whom there is no function Name.
func defaultName(string) string { return "Simulated Signer" }

// names are first names with made-up patronymics ("prufa" is Icelandic for a trial).
var names = []struct{ first, last string }{
	{"Anna", "Prufudóttir"}, {"Jón", "Prufuson"}, {"Jóna", "Prufudóttir"}, {"Ólafur", "Prufuson"},
	{"Sigríður", "Prufudóttir"}, {"Þórður", "Prufuson"}, {"Kristín", "Prufudóttir"}, {"Guðmundur", "Prufuson"},
	{"Sól", "Prufudóttir"}, {"Björn", "Prufuson"}, {"Ásta", "Prufudóttir"}, {"Einar", "Prufuson"},
}

// Name returns a name for the person with a kennitala, for [Options].Name and [LoginOptions].Name. It is always the
// same for a kennitala, and recognizably made up.
func Name(kennitala string) string {
	n := names[hashNumber("name", kennitala)%uint64(len(names))]
	return n.first + " " + n.last
}

const (
	localDigits = 7 // of an Icelandic phone number
	birthdays   = 14610
)

var firstBirthday = time.Date(1950, time.January, 1, 0, 0, 0, 0, time.UTC)

// KennitalaOf returns the kennitala of the person with a phone number, or "" if it is no phone number. It depends
// only on the last seven digits, has a birthday between 1950 and 1989 and a correct check digit, so that pages
// accept it, and ends in 9, so that it selects no failure.
func KennitalaOf(phone string) string {
	number := digits(phone)
	if len(number) < localDigits {
		return ""
	}
	n := hashNumber("phone", number[len(number)-localDigits:])
	day := firstBirthday.AddDate(0, 0, int(n%birthdays)).Format("020106")
	for serial := n / birthdays % 80; ; serial = (serial + 1) % 80 { // at least one of two consecutive serials has a check digit
		front := fmt.Sprintf("%s%02d", day, 20+serial)
		if digit, ok := checkDigit(front); ok {
			return front + digit + "9"
		}
	}
}

// checkDigit returns the ninth digit of a kennitala for the first eight. ok is false if there is none, in which case no
// kennitala begins with these eight digits.
func checkDigit(front string) (digit string, ok bool) {
	sum := 0
	for i, weight := range []int{3, 2, 7, 6, 5, 4, 3, 2} {
		sum += weight * int(front[i]-'0')
	}
	check := (11 - sum%11) % 11
	return fmt.Sprint(check), check != 10
}

// hashNumber returns a number that is derived from a text and its purpose.
func hashNumber(purpose, text string) uint64 {
	sum := sha256.Sum256([]byte(strings.Join([]string{"innsigli simulated", purpose, text}, " ")))
	return binary.BigEndian.Uint64(sum[:])
}
