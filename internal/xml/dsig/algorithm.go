package dsig

import (
	"crypto"
	_ "crypto/sha1" // to verify old signatures, which are reported as weak
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Namespaces of algorithm URIs of RFC 9231 and XML Encryption.
const (
	more2001 = "http://www.w3.org/2001/04/xmldsig-more#"
	more2007 = "http://www.w3.org/2007/05/xmldsig-more#"
	more2021 = "http://www.w3.org/2021/04/xmldsig-more#"
	xmlenc   = "http://www.w3.org/2001/04/xmlenc#"
)

// signatureMethods are the URIs that name a hash and a scheme (xmldsig-core1 6.4, RFC 9231 2.3).
// Those with SHA-1 are for verification only.
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

// digestMethods are the hashes of xmldsig-core1 6.2. SHA-1 is for verification only.
var digestMethods = []struct {
	hash crypto.Hash
	uri  string
}{
	{crypto.SHA256, xmlenc + "sha256"},
	{crypto.SHA384, more2001 + "sha384"},
	{crypto.SHA512, xmlenc + "sha512"},
	{crypto.SHA1, Namespace + "sha1"},
}

// SignatureMethod returns the URI of a signature algorithm for new signatures: one with SHA-256,
// SHA-384 or SHA-512; for RSASSA-PSS with a salt as long as the hash. For others the error is
// [ades.ErrAlgorithm].
func SignatureMethod(a ades.Algorithm) (string, error) {
	for _, m := range signatureMethods {
		if m.algorithm == a && a.Hash != crypto.SHA1 {
			return m.uri, nil
		}
	}
	return "", fmt.Errorf("xmldsig: %w: %v with %v", ades.ErrAlgorithm, a.Scheme, a.Hash)
}

// DigestMethod returns the URI of SHA-256, SHA-384 or SHA-512. For others the error is
// [ades.ErrAlgorithm].
func DigestMethod(h crypto.Hash) (string, error) {
	for _, m := range digestMethods {
		if m.hash == h && h != crypto.SHA1 {
			return m.uri, nil
		}
	}
	return "", fmt.Errorf("xmldsig: %w: hash %v", ades.ErrAlgorithm, h)
}

// Hash returns the hash of a DigestMethod, or 0 if it is unknown.
func Hash(uri string) crypto.Hash {
	for _, m := range digestMethods {
		if m.uri == uri {
			return m.hash
		}
	}
	return 0
}

// readSignatureMethod reads a ds:SignatureMethod. It refuses HMAC: the verification key here is
// public, so anyone could make an HMAC value with it.
func readSignatureMethod(n xmldoc.Node) (ades.Algorithm, error) {
	uri, _ := n.Attr("", "Algorithm")
	in := sequenceOf(n)
	if uri == more2007+"rsa-pss" {
		params := in.optional(more2007, "RSAPSSParams")
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

// readPSS reads the parameters of RSASSA-PSS (RFC 9231 2.3.9). They are optional, and so is each of
// them. The defaults are SHA-256, the same hash for the mask, and a salt as long as the hash. RFC
// 9231 also allows another hash for the mask, but crypto/rsa does not support it.
func readPSS(params xmldoc.Node) (ades.Algorithm, error) {
	if params == (xmldoc.Node{}) {
		return ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}, nil
	}
	in := sequenceOf(params)
	digest, generator := in.optional(Namespace, "DigestMethod"), in.optional(more2007, "MaskGenerationFunction")
	length, trailer := in.optional(more2007, "SaltLength"), in.optional(more2007, "TrailerField")
	if err := in.end(); err != nil {
		return ades.Algorithm{}, err
	}
	hash := hashOr(digest, crypto.SHA256)
	mask := maskHash(generator, hash)
	if hash == 0 || hash != mask {
		return ades.Algorithm{}, fmt.Errorf("xmldsig: %w: RSASSA-PSS with %v and a mask by %v", ades.ErrAlgorithm, hash, mask)
	}
	if field, err := numberOr(trailer, 1); err != nil || field != 1 {
		return ades.Algorithm{}, fmt.Errorf("xmldsig: %w: trailer field of RSASSA-PSS", ades.ErrAlgorithm)
	}
	salt, err := saltOr(length, hash.Size())
	if err != nil {
		return ades.Algorithm{}, err
	}
	return ades.Algorithm{Hash: hash, Scheme: ades.PSS, Salt: salt}, nil
}

// saltOr returns the length of the salt as in [ades.Algorithm]: 0 if it is the length of the hash.
func saltOr(length xmldoc.Node, standard int) (int, error) {
	switch salt, err := numberOr(length, standard); {
	case err != nil || salt < 1:
		return 0, fmt.Errorf("xmldsig: %w: RSASSA-PSS without a salt", ades.ErrAlgorithm)
	case salt != standard:
		return salt, nil
	}
	return 0, nil
}

// maskHash returns the hash of MGF1, by default the hash of the signature, or 0 for another mask
// generation function.
func maskHash(function xmldoc.Node, standard crypto.Hash) crypto.Hash {
	if function == (xmldoc.Node{}) {
		return standard
	}
	if uri, ok := function.Attr("", "Algorithm"); ok && uri != more2007+"MGF1" {
		return 0
	}
	in := sequenceOf(function)
	digest := in.optional(Namespace, "DigestMethod")
	if in.end() != nil {
		return 0
	}
	return hashOr(digest, standard)
}

func hashOr(method xmldoc.Node, standard crypto.Hash) crypto.Hash {
	if method == (xmldoc.Node{}) {
		return standard
	}
	uri, _ := method.Attr("", "Algorithm")
	return Hash(uri)
}

func numberOr(n xmldoc.Node, standard int) (int, error) {
	if n == (xmldoc.Node{}) {
		return standard, nil
	}
	text, err := textOf(n)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.Trim(text, space))
}

// canonicalizations are the three canonicalization methods, each with and without comments
// (xmldsig-core1 6.5).
var canonicalizations = []struct {
	method        xmldoc.Method
	uri, comments string
}{
	{xmldoc.C14N10, "http://www.w3.org/TR/2001/REC-xml-c14n-20010315", "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments"},
	{xmldoc.C14N11, "http://www.w3.org/2006/12/xml-c14n11", "http://www.w3.org/2006/12/xml-c14n11#WithComments"},
	{xmldoc.Exclusive, exclusive, exclusive + "WithComments"},
}

// exclusive is the URI of Exclusive XML Canonicalization and the namespace of its parameter.
const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"

// CanonicalizationMethod returns the URI of a method, without its Prefixes, or "" for an unknown
// method.
func CanonicalizationMethod(c xmldoc.Canonicalization) string {
	for _, m := range canonicalizations {
		if m.method == c.Method && c.Comments {
			return m.comments
		} else if m.method == c.Method {
			return m.uri
		}
	}
	return ""
}

// ReadCanonicalization reads a ds:CanonicalizationMethod, or a ds:Transform that is a
// canonicalization. The error is [ErrTransform] for another algorithm, [ErrFormat] for malformed
// parameters, and [ErrLimit] for too many prefixes.
func ReadCanonicalization(n xmldoc.Node) (xmldoc.Canonicalization, error) {
	uri, _ := n.Attr("", "Algorithm")
	for _, m := range canonicalizations {
		if uri == m.uri || uri == m.comments {
			c := xmldoc.Canonicalization{Method: m.method, Comments: uri == m.comments}
			err := readPrefixes(n, &c)
			return c, err
		}
	}
	return xmldoc.Canonicalization{}, fmt.Errorf("%w: not a canonicalization", ErrTransform)
}

// maxPrefixes bounds the prefixes of a PrefixList, because each is looked up at every element.
const maxPrefixes = 100

// readPrefixes reads the InclusiveNamespaces of Exclusive XML Canonicalization (section 4). The
// other methods have no parameters.
func readPrefixes(n xmldoc.Node, c *xmldoc.Canonicalization) error {
	in := sequenceOf(n)
	if c.Method == xmldoc.Exclusive {
		if list := in.optional(exclusive, "InclusiveNamespaces"); list != (xmldoc.Node{}) {
			prefixes, _ := list.Attr("", "PrefixList")
			c.Prefixes = strings.Fields(prefixes)
		}
	}
	if len(c.Prefixes) > maxPrefixes {
		return fmt.Errorf("%w: %d prefixes of a canonicalization", ErrLimit, len(c.Prefixes))
	}
	if i := slices.Index(c.Prefixes, "#default"); i >= 0 {
		c.Prefixes[i] = ""
	}
	return in.end()
}
