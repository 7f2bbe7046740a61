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

// CheckAlgorithm reports whether validators rely on an algorithm and a key for what is known to have been signed at a
// time; [ades.ErrAlgorithm] when not. [ades.Algorithm.Check] is the rule for what is signed now.
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

// CheckHash is the same for a digest.
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

// CheckChain is the same for the signatures of the certificates of a chain, all but the root: that is trusted for
// other reasons, and its key signed the one below.
func CheckChain(chain []*x509.Certificate, at time.Time) error {
	for i := 0; i+1 < len(chain); i++ {
		if err := CheckAlgorithm(certificateAlgorithms[chain[i].SignatureAlgorithm], chain[i+1].PublicKey, at); err != nil {
			return fmt.Errorf("%s, signed by %v: %w", ades.Identify(chain[i]), chain[i].SignatureAlgorithm, err)
		}
	}
	return nil
}

// Announced returns the end that was announced for an algorithm and a key, if that is before the time and is not
// enforced; zero when there is none.
func Announced(a ades.Algorithm, pub crypto.PublicKey, at time.Time) time.Time {
	first := hashExpiry[a.Hash]
	if until, err := keyExpiry(a.Scheme, pub); err == nil && (first.IsZero() || !until.IsZero() && until.Before(first)) {
		first = until
	}
	if first.IsZero() || !first.After(listDate) || first.After(at) {
		return time.Time{}
	}
	return first
}

// holds reports whether something with an end is relied upon at a time: before its end, or whatever the time while
// that is announced only.
func isReliable(until, at time.Time) bool {
	return until.IsZero() || until.After(listDate) || at.Before(until)
}

// keyExpiry is the end for a scheme with a key: that of the longest keys which are not longer.
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

// keyBits is the length of an RSA modulus, or of the coordinates of a curve; 0: the key is not one for the scheme.
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

// certificateAlgorithms has the names of crypto/x509; what is not among them is nothing to rely on.
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

// checkAlgorithms is the same for who signed a proof, which existed at a time. Proofs by weak hashes are not read at all.
func (a Answer) checkAlgorithms(issuer *x509.Certificate, at time.Time) error {
	algorithm, err := ades.DefaultAlgorithm(a.Signer.PublicKey)
	if err == nil {
		err = CheckAlgorithm(algorithm, a.Signer.PublicKey, at)
	}
	if err != nil {
		return fmt.Errorf("proof by %s: %w", ades.Identify(a.Signer), err)
	}
	if a.Signer.Equal(issuer) {
		return nil
	}
	return CheckChain([]*x509.Certificate{a.Signer, issuer}, at)
}

// The ends below are those of ETSI TS 119 312 V1.5.1, and before it of TS 102 176-1, as the default policy of EU DSS
// 6.4 has them. What is not listDate was never relied upon.

// listDate is the day of that list. An end which lies after it is an announcement, which later versions put off as a
// rule: whoever validates is told of it, and the result does not depend on it.
var listDate = dayOf(2024, time.October, 13)

// hashExpiry is until when hashes are relied upon; zero: no end is set.
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

// keySizeExpiry is until when keys of so many bits and more are relied upon; zero: no end is set.
type keySizeExpiry struct {
	bits  int
	until time.Time
}

// schemeExpiry is in the order of the bits.
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
