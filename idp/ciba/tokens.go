package ciba

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"
)

// Tokens are the provider's answer, which it gives once. They are secret, and nothing in them
// has been verified.
type Tokens struct {
	Access string `json:"access"` // at most 16 KiB
	ID     string `json:"id"`     // at most 128 KiB
	// Received is when they came, to the second: the ID token has to be valid then. Zero, as in
	// Tokens that were stored without it, stands for now.
	Received time.Time `json:"received,omitzero"`
	// AuthReqID is the request of CIBA that the tokens answer, as [Client.Tokens] sets it; empty: they
	// were given for a code. The ID token must not name another one.
	AuthReqID string `json:"auth_req_id,omitempty"`
}

func (t Tokens) received() time.Time {
	if t.Received.IsZero() {
		return time.Now()
	}
	return t.Received
}

// Tokens asks once whether the person has answered (CIBA Core 10.1). An [*Error] that is not
// Pending ends the request. The call needs nothing else of the network, once the metadata is
// known.
func (c *Client) Tokens(ctx context.Context, authReqID string) (Tokens, error) {
	t, err := c.Redeem(ctx, grant(authReqID))
	if err != nil {
		return Tokens{}, err
	}
	t.AuthReqID = authReqID
	return t, nil
}

func grant(authReqID string) url.Values {
	return url.Values{"grant_type": {grantType}, "auth_req_id": {authReqID}}
}

const grantType = "urn:openid:params:grant-type:ciba"

// Redeem asks the token endpoint for tokens for a grant of any type (RFC 6749 4.1.3), as the
// client. It is there for logins by the code flow.
func (c *Client) Redeem(ctx context.Context, given url.Values) (Tokens, error) {
	address, err := c.endpoint(ctx, tokenEndpoint)
	if err != nil {
		return Tokens{}, err
	}
	form := make(url.Values)
	maps.Copy(form, given)
	a, err := c.post(ctx, address, form)
	if err != nil {
		return Tokens{}, err
	}
	return a.tokens()
}

// tokens reads a successful answer (OpenID Connect Core 3.1.3.3).
func (a answer) tokens() (Tokens, error) {
	var t struct {
		Access string `json:"access_token"`
		ID     string `json:"id_token"`
		Type   string `json:"token_type"`
	}
	if err := a.decode(&t); err != nil {
		return Tokens{}, err
	}
	if !visible(t.Access) || !compact(t.ID) || !strings.EqualFold(t.Type, "Bearer") {
		return Tokens{}, a.fault(errors.New("no Bearer token with an ID token"))
	}
	return Tokens{Access: t.Access, ID: t.ID, Received: time.Now().UTC().Truncate(time.Second)}, nil
}

// maxIDToken leaves room for a signature and a certificate among the claims, which are in base64
// twice: a CMS of 9 KiB takes 16.
const maxIDToken = 128 << 10 // bytes

// compact says whether a token may be a JWS in the compact form (RFC 7515 7.1): base64url, of a
// length that a state can carry.
func compact(token string) bool {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return token != "" && len(token) <= maxIDToken && strings.Trim(token, alphabet) == ""
}
