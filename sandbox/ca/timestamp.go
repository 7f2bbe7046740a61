package ca

import (
	"encoding/asn1"
	"time"

	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// timestampPolicy is below the arc for examples (X.660 A.2.9): tokens of the sandbox
// follow no policy that anybody answers for.
var timestampPolicy = asn1.ObjectIdentifier{2, 999, 3161}

// Timestamp answers a DER TimeStampReq as of a time (RFC 3161 2.4). Every request
// gets a DER TimeStampResp, also one that cannot be read.
func (a *Authority) Timestamp(request []byte, now time.Time) []byte {
	return a.unit().Respond(request, now)
}

func (a *Authority) unit() tsp.Unit {
	chain := a.Chain()
	a.mu.RLock()
	defer a.mu.RUnlock()
	return tsp.Unit{Certificate: a.timestamping.certificate, Chain: chain, Key: a.timestamping.key, Policy: timestampPolicy}
}
