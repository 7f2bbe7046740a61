package cms

import (
	"encoding/asn1"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// oidRevocationArchival is adbe-revocationInfoArchival (ISO 32000-1 12.8.3.3.2).
var oidRevocationArchival = asn1.ObjectIdentifier{1, 2, 840, 113583, 1, 1, 8}

// maxArchived bounds the proofs of each kind in a signature.
const maxArchived = 256

// ArchivedRevocation is the revocation data among the signed attributes, which signatures of PDF had before the
// document security store: lists and responses in DER, not looked into. What cannot be read proves nothing.
func (sd *SignedData) ArchivedRevocation() (lists, responses [][]byte) {
	value, ok := sd.single(oidRevocationArchival)
	var archival cryptobyte.String
	if !ok || !value.ReadASN1(&archival, cbasn1.SEQUENCE) {
		return nil, nil
	}
	return archived(&archival, tagContext0), archived(&archival, tagContext1)
}

// archived reads an optional SEQUENCE OF under an explicit tag.
func archived(from *cryptobyte.String, tag cbasn1.Tag) (all [][]byte) {
	var explicit, sequence cryptobyte.String
	var present bool
	if !from.ReadOptionalASN1(&explicit, &present, tag) || !present || !explicit.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return nil
	}
	for !sequence.Empty() && len(all) < maxArchived {
		var one cryptobyte.String
		if !sequence.ReadASN1Element(&one, cbasn1.SEQUENCE) {
			break
		}
		all = append(all, one)
	}
	return all
}
