package ades

// Digest is what a signer signs, in the form that crypto.Signer takes: with
// [Ed25519] Sum is the message itself, else its hash by Algorithm.Hash.
//
//	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
type Digest struct {
	Algorithm Algorithm
	Sum       []byte
}

// Digest returns what has to be signed so that the value is one over the message.
// The hash has to be available.
func (a Algorithm) Digest(message []byte) Digest {
	if a.Scheme == Ed25519 {
		return Digest{Algorithm: a, Sum: message}
	}
	h := a.Hash.New()
	h.Write(message)
	return Digest{Algorithm: a, Sum: h.Sum(nil)}
}
