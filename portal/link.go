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

// expired says whether the link was not opened in time (service.md 3.3).
func (l *Link) expired(now time.Time) bool {
	return l.Hash != nil && now.After(l.InvitedAt.Add(InvitationTime))
}

// useUp erases the token (decisions.md 6.3).
func (l *Link) useUp() { l.Hash, l.Token = nil, nil }
