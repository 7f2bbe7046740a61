package ciba

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Claims are what the provider says of the person, verified.
type Claims struct {
	ID       map[string]any // of the ID token
	UserInfo map[string]any // of the userinfo endpoint
}

// Text returns a claim that is a string, of the userinfo before the ID token; "" when there
// is none.
func (c Claims) Text(name string) string {
	for _, claims := range []map[string]any{c.UserInfo, c.ID} {
		if s, ok := claims[name].(string); ok {
			return s
		}
	}
	return ""
}

// Claims verifies the ID token, as of when it was received, and gets the userinfo. It may be
// called again with the same tokens, also when the provider does not publish the key yet with
// which it signed: that is a [*TransportError]. An [*Error] means that the provider no longer
// takes the access token.
func (c *Client) Claims(ctx context.Context, t Tokens) (Claims, error) {
	id, err := c.verify(ctx, t)
	if err != nil {
		return Claims{}, err
	}
	info, err := c.userInfo(ctx, t.Access)
	if err != nil {
		return Claims{}, err
	}
	claims := Claims{ID: id, UserInfo: info}
	subject, _ := id["sub"].(string)
	if subject == "" || info["sub"] != subject { // OpenID Connect Core 5.3.2
		return Claims{}, untrusted("the ID token and the userinfo are not about the same person")
	}
	return claims, nil
}

// userInfo asks who the person is (OpenID Connect Core 5.3).
func (c *Client) userInfo(ctx context.Context, access string) (map[string]any, error) {
	address, err := c.endpoint(ctx, userInfoEndpoint)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &TransportError{Err: errAddress}
	}
	req.Header.Set("Authorization", "Bearer "+access)
	a, err := c.do(req)
	if err != nil {
		return nil, err
	}
	switch a.status {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden: // RFC 6750 3.1, where the body may be empty
		var refused *Error
		if errors.As(a.oauthError(), &refused) {
			return nil, refused
		}
		return nil, &Error{Status: a.status, Code: "invalid_token"}
	default:
		return nil, a.oauthError()
	}
	var info map[string]any
	if json.Unmarshal(a.body, &info) != nil {
		return nil, a.fault(fmt.Errorf("userinfo: %w", errJSON))
	}
	return info, nil
}
