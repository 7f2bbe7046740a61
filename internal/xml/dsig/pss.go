package dsig

import (
	"crypto"
	"fmt"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// readPSS reads the parameters of RSASSA-PSS (RFC 9231 2.3.9), of which each has a default, and so have all
// of them: SHA-256, the same hash for the mask, a salt as long as the hash. A hash of its own for the mask is
// allowed there, but is not known to crypto/rsa.
func readPSS(params xmldoc.Node) (ades.Algorithm, error) {
	if params == (xmldoc.Node{}) {
		return ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}, nil
	}
	in := sequenceOf(params)
	digest, generator := in.maybe(Namespace, "DigestMethod"), in.maybe(more2007, "MaskGenerationFunction")
	length, trailer := in.maybe(more2007, "SaltLength"), in.maybe(more2007, "TrailerField")
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

// saltOr is the length of the salt, as [ades.Algorithm] has it: 0 when it is that of the hash.
func saltOr(length xmldoc.Node, standard int) (int, error) {
	switch salt, err := numberOr(length, standard); {
	case err != nil || salt < 1:
		return 0, fmt.Errorf("xmldsig: %w: RSASSA-PSS without a salt", ades.ErrAlgorithm)
	case salt != standard:
		return salt, nil
	}
	return 0, nil
}

// maskHash is the hash of MGF1, by default that of the signature; 0 when the function is another.
func maskHash(function xmldoc.Node, standard crypto.Hash) crypto.Hash {
	if function == (xmldoc.Node{}) {
		return standard
	}
	if uri, ok := function.Attr("", "Algorithm"); ok && uri != more2007+"MGF1" {
		return 0
	}
	in := sequenceOf(function)
	digest := in.maybe(Namespace, "DigestMethod")
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
