package ciba

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"
)

// Tokens are a token response of the provider, which issues it only once. They are secret, and the client has not
// verified them.
type Tokens struct {
	Access string `json:"access"` // at most 16 KiB
	ID     string `json:"id"`     // at most 128 KiB
	// Received is the time of the response, to the second. The ID token has to be valid at that time. Zero, as in
	// Tokens that an earlier version stored, means now.
	Received time.Time `json:"received,omitzero"`
	// AuthReqID is the CIBA request that the tokens answer, as [Client.Tokens] sets it; empty: the tokens were issued
	// for an authorization code. The ID token must not name another request.
	AuthReqID string `json:"auth_req_id,omitempty"`
}

func (t Tokens) received() time.Time {
	if t.Received.IsZero() {
		return time.Now()
	}
	return t.Received
}

// Tokens requests the tokens once (CIBA Core 10.1). An [*Error] that is not Pending ends the authentication request.
// The call sends no other request once the metadata is cached.
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

// Redeem exchanges a grant of any type for tokens (RFC 6749 4.1.3). It authenticates the client. It is meant for logins
// by the authorization code flow.
func (c *Client) Redeem(ctx context.Context, grant url.Values) (Tokens, error) {
	address, err := c.endpoint(ctx, tokenEndpoint)
	if err != nil {
		return Tokens{}, err
	}
	form := make(url.Values)
	maps.Copy(form, grant)
	resp, err := c.post(ctx, address, form)
	if err != nil {
		return Tokens{}, err
	}
	return resp.tokens()
}

// tokens parses a successful token response (OpenID Connect Core 3.1.3.3).
func (r response) tokens() (Tokens, error) {
	var t struct {
		Access string `json:"access_token"`
		ID     string `json:"id_token"`
		Type   string `json:"token_type"`
	}
	if err := r.decode(&t); err != nil {
		return Tokens{}, err
	}
	if !isToken(t.Access) || !isCompactJWS(t.ID) || !strings.EqualFold(t.Type, "Bearer") {
		return Tokens{}, r.transportError(errors.New("the answer has no Bearer token with an ID token"))
	}
	return Tokens{Access: t.Access, ID: t.ID, Received: time.Now().UTC().Truncate(time.Second)}, nil
}

// maxIDToken allows for a signature and a certificate among the claims, which are in base64 twice: a CMS of 9 KiB
// becomes 16 KiB.
const maxIDToken = 128 << 10 // bytes

// isCompactJWS reports whether a token can be a JWS in compact serialization (RFC 7515 7.1): base64url, at most
// maxIDToken bytes.
func isCompactJWS(token string) bool {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	return token != "" && len(token) <= maxIDToken && strings.Trim(token, alphabet) == ""
}

// Authorize returns the address to which the caller redirects a browser for a login by the authorization code flow
// (OpenID Connect Core 3.1.2.1). It adds client_id and response_type to the parameters.
func (c *Client) Authorize(ctx context.Context, parameters url.Values) (string, error) {
	address, err := c.endpoint(ctx, authorizationEndpoint)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", &TransportError{Err: errAddress}
	}
	query := u.Query() // RFC 6749 3.1: the query of the endpoint is retained
	maps.Copy(query, parameters)
	query.Set("client_id", c.options.ClientID)
	query.Set("response_type", "code")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// RedirectError returns the error in the query with which the provider redirected a browser back (RFC 6749 4.1.2.1).
func RedirectError(query url.Values) *Error {
	code := query.Get("error")
	return &Error{Code: code[:min(len(code), maxErrorCode)], Description: truncate(query.Get("error_description"))}
}
