package ciba

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// metadata is the part of the provider's metadata that the client uses (OpenID Connect Discovery 1.0 section 3, CIBA
// Core section 4).
type metadata struct {
	Issuer string `json:"issuer"`
	Endpoints
	ACRValues         []string `json:"acr_values_supported"`
	RequestAlgorithms []string `json:"backchannel_authentication_request_signing_alg_values_supported"`
	DeliveryModes     []string `json:"backchannel_token_delivery_modes_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	ClientMethods     []string `json:"token_endpoint_auth_methods_supported"`
}

// fetchMetadata gets the metadata. Metadata of another issuer is an error (Discovery 4.3).
func (c *Client) fetchMetadata(ctx context.Context) (metadata, error) {
	var m metadata
	resp, err := c.get(ctx, c.options.discovery())
	if err == nil {
		err = resp.decode(&m)
	}
	if err != nil {
		return metadata{}, err
	}
	if m.Issuer != c.options.Issuer {
		return metadata{}, resp.transportError(fmt.Errorf("the metadata's issuer is %.200q instead of %q", m.Issuer, c.options.Issuer))
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

var endpointNames = []string{backchannelEndpoint, tokenEndpoint, userInfoEndpoint, keysEndpoint, authorizationEndpoint}

func (e Endpoints) named(name string) string { return *e.field(name) }

// field returns the field for a name of the metadata.
func (e *Endpoints) field(name string) *string {
	switch name {
	case backchannelEndpoint:
		return &e.BackchannelAuthentication
	case tokenEndpoint:
		return &e.Token
	case userInfoEndpoint:
		return &e.UserInfo
	case keysEndpoint:
		return &e.JWKS
	case authorizationEndpoint:
		return &e.Authorization
	}
	return new(string)
}

// endpoint returns the address of an endpoint: that of the options, or else that of the metadata, which is fetched
// again if it lacks the endpoint.
func (c *Client) endpoint(ctx context.Context, name string) (string, error) {
	var m metadata
	if c.options.Endpoints.named(name) == "" {
		var err error
		if m, err = c.metadata.get(ctx, func(m metadata) bool { return m.named(name) != "" }); err != nil {
			return "", err
		}
	}
	address, err := c.address(m, name)
	switch {
	case address == "":
		return "", &TransportError{Err: errors.New("the provider's metadata has no " + name)}
	case err != nil:
		return "", &TransportError{Err: fmt.Errorf("the provider's %s: %w", name, err)}
	}
	return address, nil
}

// address returns the address of an endpoint in the options, or else in the metadata. An address of the metadata that
// may not be used is returned with an error.
func (c *Client) address(m metadata, name string) (string, error) {
	if configured := c.options.Endpoints.named(name); configured != "" {
		return configured, nil
	}
	discovered := m.named(name)
	return discovered, c.checkDiscovered(discovered)
}

// checkDiscovered checks an address of the metadata. It refuses http on the local machine unless the provider is
// there: a remote provider's metadata must not make the client send a secret to a local process.
func (c *Client) checkDiscovered(address string) error {
	if isLocalHTTP(address) && !isLocalHTTP(c.options.Issuer) && !isLocalHTTP(c.options.discovery()) {
		return fmt.Errorf("%w: the metadata of a provider elsewhere must not name this machine", errAddress)
	}
	return checkAddress(address)
}

// isLocalHTTP reports whether an address is one of http on the local machine.
func isLocalHTTP(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && isLoopback(u.Hostname())
}
