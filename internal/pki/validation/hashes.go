package validation

import (
	"crypto"

	"github.com/innsigli/innsigli/ades"
)

// CheckHashes makes sure that the digests of what is signed, which may be by other hashes than the signature is,
// are some to rely on when the signature is judged. No data that comes later makes up for one that is not.
func CheckHashes(r *ades.SignatureReport, hashes ...crypto.Hash) {
	for _, h := range hashes {
		err := CheckHash(h, r.JudgedAt)
		if err == nil {
			continue
		}
		if r.SubIndication == ades.TryLater {
			r.Indication, r.SubIndication = "", ""
		}
		r.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
		return
	}
}
