package ciba

import (
	"context"
	"errors"
	"fmt"
)

// metadata is what of the provider's metadata is of use (OpenID Connect Discovery 1.0,
// section 3; CIBA Core section 4).
type metadata struct {
	Issuer string `json:"issuer"`
	Endpoints
	ACRValues         []string `json:"acr_values_supported"`
	RequestAlgorithms []string `json:"backchannel_authentication_request_signing_alg_values_supported"`
	DeliveryModes     []string `json:"backchannel_token_delivery_modes_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	ClientMethods     []string `json:"token_endpoint_auth_methods_supported"`
}

// readMetadata fails also when the metadata is another issuer's (Discovery 4.3).
func (c *Client) readMetadata(ctx context.Context) (metadata, error) {
	var m metadata
	a, err := c.get(ctx, c.options.discovery())
	if err == nil {
		err = a.decode(&m)
	}
	if err != nil {
		return metadata{}, err
	}
	if m.Issuer != c.options.Issuer {
		return metadata{}, a.fault(fmt.Errorf("the metadata's issuer is %.200q, not %q", m.Issuer, c.options.Issuer))
	}
	return m, nil
}

// The names of Endpoints in the metadata.
const (
	backchannelEndpoint   = "backchannel_authentication_endpoint"
	tokenEndpoint         = "token_endpoint"
	userInfoEndpoint      = "userinfo_endpoint"
	keysEndpoint          = "jwks_uri"
	authorizationEndpoint = "authorization_endpoint"
)

func (e Endpoints) named(name string) string {
	switch name {
	case backchannelEndpoint:
		return e.BackchannelAuthentication
	case tokenEndpoint:
		return e.Token
	case userInfoEndpoint:
		return e.UserInfo
	case keysEndpoint:
		return e.JWKS
	case authorizationEndpoint:
		return e.Authorization
	}
	return ""
}

// endpoint returns an address: the options' if they have it, or the metadata's, which is
// read again when it lacks the endpoint.
func (c *Client) endpoint(ctx context.Context, name string) (string, error) {
	if own := c.options.Endpoints.named(name); own != "" {
		return own, nil
	}
	m, err := c.metadata.get(ctx, func(m metadata) bool { return m.named(name) != "" })
	if err != nil {
		return "", err
	}
	address := m.named(name)
	if address == "" {
		return "", &TransportError{Err: errors.New("the provider's metadata has no " + name)}
	}
	if err := checkAddress(address); err != nil {
		return "", &TransportError{Err: fmt.Errorf("the provider's %s: %w", name, err)}
	}
	return address, nil
}
