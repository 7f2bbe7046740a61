package validation

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// CheckAlgorithm returns [ades.ErrAlgorithm] unless validators accept the algorithm and the key for
// a signature with a POE at the time. [ades.Algorithm.Check] is the rule for new signatures.
func CheckAlgorithm(a ades.Algorithm, pub crypto.PublicKey, at time.Time) error {
	if err := CheckHash(a.Hash, at); err != nil {
		return err
	}
	until, err := keyExpiry(a.Scheme, pub)
	if err == nil && !isReliable(until, at) {
		err = fmt.Errorf("%w: %v with a key of %d bits since %s", ades.ErrAlgorithm, a.Scheme, keyBits(a.Scheme, pub), until.Format(time.DateOnly))
	}
	return err
}

// CheckHash is [CheckAlgorithm] for a digest.
func CheckHash(h crypto.Hash, at time.Time) error {
	until, ok := hashExpiry[h]
	switch {
	case !ok:
		return fmt.Errorf("%w: hash %v", ades.ErrAlgorithm, h)
	case !isReliable(until, at):
		return fmt.Errorf("%w: hash %v since %s", ades.ErrAlgorithm, h, until.Format(time.DateOnly))
	}
	return nil
}

// CheckChain applies [CheckAlgorithm] to the signatures of the certificates in a chain. It does not
// check the signature of the root, which is trusted for other reasons. It does check the root's
// key, which signed the certificate below.
func CheckChain(chain []*x509.Certificate, at time.Time) error {
	for i := 0; i+1 < len(chain); i++ {
		if err := CheckAlgorithm(certificateAlgorithms[chain[i].SignatureAlgorithm], chain[i+1].PublicKey, at); err != nil {
			return fmt.Errorf("%s, signed by %v: %w", ades.Identify(chain[i]), chain[i].SignatureAlgorithm, err)
		}
	}
	return nil
}

// AnnouncedExpiry returns the announced expiry of an algorithm and a key, if it is not enforced yet and
// not after the time; otherwise zero.
func AnnouncedExpiry(a ades.Algorithm, pub crypto.PublicKey, at time.Time) time.Time {
	first := hashExpiry[a.Hash]
	if until, err := keyExpiry(a.Scheme, pub); err == nil && (first.IsZero() || !until.IsZero() && until.Before(first)) {
		first = until
	}
	if first.IsZero() || !first.After(listDate) || first.After(at) {
		return time.Time{}
	}
	return first
}

// isReliable reports whether an algorithm or a key with the expiry until is accepted at a time:
// before the expiry, or at any time if the expiry is only announced.
func isReliable(until, at time.Time) bool {
	return until.IsZero() || until.After(listDate) || at.Before(until)
}

// keyExpiry returns the expiry of a key with a scheme: that of the largest listed key size that the
// key has at least.
func keyExpiry(s ades.Scheme, pub crypto.PublicKey) (until time.Time, err error) {
	bits := keyBits(s, pub)
	err = fmt.Errorf("%w: %v with key %T of %d bits", ades.ErrAlgorithm, s, pub, bits)
	for _, r := range schemeExpiry[s] {
		if bits >= r.bits {
			until, err = r.until, nil
		}
	}
	return until, err
}

// keyBits returns the length in bits of an RSA modulus, or of the coordinates on a curve. It
// returns 0 if the key does not fit the scheme.
func keyBits(s ades.Scheme, pub crypto.PublicKey) int {
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		if s == ades.PKCS1v15 || s == ades.PSS {
			return pub.N.BitLen()
		}
	case *ecdsa.PublicKey:
		if s == ades.ECDSA {
			return pub.Curve.Params().BitSize
		}
	}
	return 0
}

// certificateAlgorithms maps the algorithms of crypto/x509. All others are not accepted.
var certificateAlgorithms = map[x509.SignatureAlgorithm]ades.Algorithm{
	x509.SHA256WithRSA:    {Hash: crypto.SHA256, Scheme: ades.PKCS1v15},
	x509.SHA384WithRSA:    {Hash: crypto.SHA384, Scheme: ades.PKCS1v15},
	x509.SHA512WithRSA:    {Hash: crypto.SHA512, Scheme: ades.PKCS1v15},
	x509.SHA256WithRSAPSS: {Hash: crypto.SHA256, Scheme: ades.PSS},
	x509.SHA384WithRSAPSS: {Hash: crypto.SHA384, Scheme: ades.PSS},
	x509.SHA512WithRSAPSS: {Hash: crypto.SHA512, Scheme: ades.PSS},
	x509.ECDSAWithSHA256:  {Hash: crypto.SHA256, Scheme: ades.ECDSA},
	x509.ECDSAWithSHA384:  {Hash: crypto.SHA384, Scheme: ades.ECDSA},
	x509.ECDSAWithSHA512:  {Hash: crypto.SHA512, Scheme: ades.ECDSA},
}

// The expiry dates below are those of ETSI TS 119 312 V1.5.1, and before it of TS 102 176-1, as in
// the default policy of EU DSS 6.4. An algorithm that is not listed was never accepted.

// listDate is the date of that list. An expiry after it is only announced, and later versions
// usually postpone it: the report contains a warning, and the result does not depend on it.
var listDate = dayOf(2024, time.October, 13)

// hashExpiry has the time at which a hash expires; zero: no expiry is set.
var hashExpiry = map[crypto.Hash]time.Time{
	crypto.SHA1:     dayOf(2012, time.August, 1),
	crypto.SHA224:   dayOf(2029, time.January, 1),
	crypto.SHA256:   {},
	crypto.SHA384:   {},
	crypto.SHA512:   {},
	crypto.SHA3_256: {},
	crypto.SHA3_384: {},
	crypto.SHA3_512: {},
}

// keySizeExpiry is the time until which keys of at least bits are accepted; zero: no expiry is set.
type keySizeExpiry struct {
	bits  int
	until time.Time
}

// schemeExpiry has the expiry dates of each scheme, in ascending order of bits.
var schemeExpiry = map[ades.Scheme][]keySizeExpiry{
	ades.PKCS1v15: {
		{786, dayOf(2010, time.August, 1)}, {1024, dayOf(2019, time.October, 1)}, {1900, dayOf(2029, time.January, 1)},
	},
	ades.PSS: {
		{786, dayOf(2010, time.August, 1)}, {1024, dayOf(2019, time.October, 1)}, {1900, dayOf(2029, time.January, 1)}, {3000, time.Time{}},
	},
	ades.ECDSA: {{160, dayOf(2012, time.August, 1)}, {224, dayOf(2021, time.October, 1)}, {256, time.Time{}}},
}

func dayOf(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}
