package ca

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"math/big"
)

// serialHalf is the length in bytes of the random half of a serial number and of
// the code over it.
const serialHalf = 8

// newSerial makes a serial number that its issuer recognizes without a list of
// those it gave: a random half, then a code over the issuer's key and that half. It
// is never zero and has 17 octets in DER.
func (a *Authority) newSerial(issuer *x509.Certificate) *big.Int {
	half := make([]byte, serialHalf)
	rand.Read(half) // never fails
	half[0] |= 0x80
	return new(big.Int).SetBytes(append(half, a.serialCode(issuer, half)...))
}

// issued says whether the issuer gave the serial number.
func (a *Authority) issued(issuer *x509.Certificate, serial *big.Int) bool {
	if a.serialKey == nil {
		return a.mayHaveIssued(issuer, serial)
	}
	if serial.Sign() < 0 || serial.BitLen() != 2*8*serialHalf {
		return false
	}
	b := serial.Bytes()
	return hmac.Equal(b[serialHalf:], a.serialCode(issuer, b[:serialHalf]))
}

func (a *Authority) serialCode(issuer *x509.Certificate, half []byte) []byte {
	mac := hmac.New(sha256.New, a.serialKey)
	mac.Write(issuer.SubjectKeyId)
	mac.Write(half)
	return mac.Sum(nil)[:serialHalf]
}

// mayHaveIssued is for an authority of before serial numbers had a code: the root
// issued one certificate, and any other may be the issuing authority's.
func (a *Authority) mayHaveIssued(issuer *x509.Certificate, serial *big.Int) bool {
	ofRoot := serial.Cmp(a.issuing.certificate.SerialNumber) == 0
	return ofRoot == issuer.Equal(a.root.certificate)
}

func (a *Authority) issuedByRoot(cert *x509.Certificate) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.issued(a.root.certificate, cert.SerialNumber)
}
