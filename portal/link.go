package portal

import (
	"bytes"
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

// expired says whether the link was not opened in time (spec 4.3).
func (l *Link) expired(now time.Time) bool {
	return l.Hash != nil && now.After(l.InvitedAt.Add(InvitationTime))
}

// useUp erases the token (spec 4.3). What the link was is kept: whoever comes with it again is
// led on to the page, which needs a login.
func (l *Link) useUp() {
	if l.Hash != nil {
		l.Was = l.Hash
	}
	l.Hash, l.Token = nil, nil
}

// hash is that of the link, be it used up or not; nil: nobody knows.
func (l *Link) hash() []byte {
	if l.Hash != nil {
		return l.Hash
	}
	return l.Was
}

// linked finds the participant whose link has a hash; nil: it has been replaced since.
func (p *Process) linked(hash []byte) *Participant {
	for i := range p.Participants {
		if one := &p.Participants[i]; bytes.Equal(one.Link.hash(), hash) {
			return one
		}
	}
	return nil
}

// LinkHashes are the hashes of the process' links, those included that are used up. It is found by
// them: [ProcessStore].
func (p *Process) LinkHashes() (list [][]byte) {
	for i := range p.Participants {
		if hash := p.Participants[i].Link.hash(); len(hash) > 0 {
			list = append(list, hash)
		}
	}
	return list
}

// LinkState is what has become of the participant's link.
func (p *Participant) LinkState(now time.Time) LinkState {
	switch {
	case p.Person != nil, p.Signature != nil, p.Decline != nil:
		return Opened
	case p.Link.Hash == nil, p.Link.expired(now):
		return LinkExpired
	}
	return Unopened
}
