package ades_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// RFC 5280 4.1.2.2: certificates with a negative serial number are handled gracefully, and some authorities of the
// European Union have one. The programs of this module say so to crypto/x509: see godebug in go.mod.
func TestNegativeSerialNumber(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(0x11223344), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	der = bytes.Replace(der, []byte{0x11, 0x22, 0x33, 0x44}, []byte{0x91, 0x22, 0x33, 0x44}, 1)
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	if c.SerialNumber.Sign() >= 0 || !strings.Contains(ades.Identify(c), "0x6eddccbc") {
		t.Errorf("%v, %s", c.SerialNumber, ades.Identify(c))
	}
}
