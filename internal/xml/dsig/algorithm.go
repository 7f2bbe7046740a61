package dsig

import (
	"crypto"
	_ "crypto/sha1" // old signatures are read, and reported as weak
	"fmt"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// The namespaces in which RFC 9231 and XML Encryption name algorithms.
const (
	more2001 = "http://www.w3.org/2001/04/xmldsig-more#"
	more2007 = "http://www.w3.org/2007/05/xmldsig-more#"
	more2021 = "http://www.w3.org/2021/04/xmldsig-more#"
	xmlenc   = "http://www.w3.org/2001/04/xmlenc#"
)

// signatureMethods name a hash and a scheme in one URI (xmldsig-core1 6.4, RFC 9231 2.3). Those with
// SHA-1 are for reading alone.
var signatureMethods = []struct {
	algorithm ades.Algorithm
	uri       string
}{
	{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}, more2001 + "rsa-sha256"},
	{ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PKCS1v15}, more2001 + "rsa-sha384"},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}, more2001 + "rsa-sha512"},
	{ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PKCS1v15}, Namespace + "rsa-sha1"},
	{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}, more2007 + "sha256-rsa-MGF1"},
	{ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PSS}, more2007 + "sha384-rsa-MGF1"},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PSS}, more2007 + "sha512-rsa-MGF1"},
	{ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PSS}, more2007 + "sha1-rsa-MGF1"},
	{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}, more2001 + "ecdsa-sha256"},
	{ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.ECDSA}, more2001 + "ecdsa-sha384"},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.ECDSA}, more2001 + "ecdsa-sha512"},
	{ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}, more2001 + "ecdsa-sha1"},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}, more2021 + "eddsa-ed25519"},
}

// digestMethods are the hashes of xmldsig-core1 6.2; SHA-1 is for reading alone.
var digestMethods = []struct {
	hash crypto.Hash
	uri  string
}{
	{crypto.SHA256, xmlenc + "sha256"},
	{crypto.SHA384, more2001 + "sha384"},
	{crypto.SHA512, xmlenc + "sha512"},
	{crypto.SHA1, Namespace + "sha1"},
}

// SignatureMethod is the URI of a signature algorithm that signatures are made with: one over SHA-256,
// SHA-384 or SHA-512, and RSASSA-PSS with a salt as long as the hash. [ades.ErrAlgorithm].
func SignatureMethod(a ades.Algorithm) (string, error) {
	for _, m := range signatureMethods {
		if m.algorithm == a && a.Hash != crypto.SHA1 {
			return m.uri, nil
		}
	}
	return "", fmt.Errorf("xmldsig: %w: %v with %v", ades.ErrAlgorithm, a.Scheme, a.Hash)
}

// DigestMethod is the URI of SHA-256, SHA-384 and SHA-512; [ades.ErrAlgorithm].
func DigestMethod(h crypto.Hash) (string, error) {
	for _, m := range digestMethods {
		if m.hash == h && h != crypto.SHA1 {
			return m.uri, nil
		}
	}
	return "", fmt.Errorf("xmldsig: %w: hash %v", ades.ErrAlgorithm, h)
}

// Hash is the hash of a DigestMethod; 0 when it is not known.
func Hash(uri string) crypto.Hash {
	for _, m := range digestMethods {
		if m.uri == uri {
			return m.hash
		}
	}
	return 0
}

// readSignatureMethod reads a ds:SignatureMethod. A method that takes a secret (HMAC) is none: the key at
// hand is public, and whoever has it could make the value.
func readSignatureMethod(n xmldoc.Node) (ades.Algorithm, error) {
	uri, _ := n.Attr("", "Algorithm")
	in := sequenceOf(n)
	if uri == more2007+"rsa-pss" {
		params := in.maybe(more2007, "RSAPSSParams")
		if err := in.end(); err != nil {
			return ades.Algorithm{}, err
		}
		return readPSS(params)
	}
	for _, m := range signatureMethods {
		if m.uri == uri {
			return m.algorithm, in.end()
		}
	}
	return ades.Algorithm{}, fmt.Errorf("xmldsig: %w: signature method", ades.ErrAlgorithm)
}
