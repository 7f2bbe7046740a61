package portal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// tokenLen is the length of a link's token in bytes, before it is written in base64url.
const tokenLen = 32

// newLink invites at a time.
func newLink(now time.Time) Link {
	random := make([]byte, tokenLen)
	rand.Read(random)
	token := base64.RawURLEncoding.EncodeToString(random)
	return Link{InvitedAt: now, Hash: hashOf(token), Token: []byte(token)}
}

// hashOf is what a link is looked up by: a copy of the index opens no page.
func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// LinkHashes are the hashes of the process' links, those included that are used up. It is found by
// them: [ProcessStore].
func (p *Process) LinkHashes() (list [][]byte) {
	for i := range p.Participants {
		if hash := p.Participants[i].Link.LastHash(); len(hash) > 0 {
			list = append(list, hash)
		}
	}
	return list
}
