package ciba

import (
	"context"
	"maps"
	"net/url"
)

// Authorize returns the address to which a browser is sent for a login by the code flow
// (OpenID Connect Core 3.1.2.1): the parameters, with those that name the client.
func (c *Client) Authorize(ctx context.Context, parameters url.Values) (string, error) {
	address, err := c.endpoint(ctx, authorizationEndpoint)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", &TransportError{Err: errAddress}
	}
	query := u.Query() // RFC 6749 3.1: the endpoint's own stay
	maps.Copy(query, parameters)
	query.Set("client_id", c.options.ClientID)
	query.Set("response_type", "code")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// Redirected is the error in the query with which a browser comes back from there (RFC 6749
// 4.1.2.1).
func Redirected(query url.Values) *Error {
	code := query.Get("error")
	return &Error{Code: code[:min(len(code), maxErrorCode)], Description: cut(query.Get("error_description"))}
}
