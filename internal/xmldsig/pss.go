package xmldsig

import (
	"crypto"
	"fmt"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/xmldoc"
)

// readPSS reads the parameters of RSASSA-PSS (RFC 9231 2.3.9), of which each has a default, and so have all
// of them. A hash of its own for the mask is allowed there, but is not known to crypto/rsa.
func readPSS(params xmldoc.Node) (ades.Algorithm, error) {
	if params == (xmldoc.Node{}) {
		return ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}, nil
	}
	in := sequenceOf(params)
	digest := in.maybe(Namespace, "DigestMethod")
	generator := in.maybe(more2007, "MaskGenerationFunction")
	length := in.maybe(more2007, "SaltLength")
	trailer := in.maybe(more2007, "TrailerField")
	if err := in.end(); err != nil {
		return ades.Algorithm{}, err
	}
	hash, mask := hashOr(digest, crypto.SHA256), maskHash(generator)
	if hash == 0 || hash != mask {
		return ades.Algorithm{}, fmt.Errorf("xmldsig: %w: RSASSA-PSS with %v and a mask by %v", ades.ErrAlgorithm, hash, mask)
	}
	salt, err := numberOr(length, hash.Size())
	if err != nil || salt < 1 {
		return ades.Algorithm{}, fmt.Errorf("xmldsig: %w: RSASSA-PSS without a salt", ades.ErrAlgorithm)
	}
	if field, err := numberOr(trailer, 1); err != nil || field != 1 {
		return ades.Algorithm{}, fmt.Errorf("xmldsig: %w: trailer field of RSASSA-PSS", ades.ErrAlgorithm)
	}
	a := ades.Algorithm{Hash: hash, Scheme: ades.PSS}
	if salt != hash.Size() {
		a.Salt = salt
	}
	return a, nil
}

// maskHash is the hash of MGF1; 0 when the function is another.
func maskHash(function xmldoc.Node) crypto.Hash {
	if function == (xmldoc.Node{}) {
		return crypto.SHA256
	}
	if uri, ok := function.Attr("", "Algorithm"); ok && uri != more2007+"MGF1" {
		return 0
	}
	in := sequenceOf(function)
	digest := in.maybe(Namespace, "DigestMethod")
	if in.end() != nil {
		return 0
	}
	return hashOr(digest, crypto.SHA256)
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
