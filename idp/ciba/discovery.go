package ciba

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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

var endpointNames = []string{backchannelEndpoint, tokenEndpoint, userInfoEndpoint, keysEndpoint, authorizationEndpoint}

func (e Endpoints) named(name string) string { return *e.place(name) }

func (e *Endpoints) place(name string) *string {
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

// endpoint returns an address: the options' if they have it, or the metadata's, which is
// read again when it lacks the endpoint.
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

// address returns where an endpoint is by the options, or else by the metadata, and with it what
// is wrong with that.
func (c *Client) address(m metadata, name string) (string, error) {
	if own := c.options.Endpoints.named(name); own != "" {
		return own, nil
	}
	discovered := m.named(name)
	return discovered, c.checkDiscovered(discovered)
}

// checkDiscovered refuses http also on this machine, unless the provider is there: the metadata
// of another must not send a secret to whoever listens here.
func (c *Client) checkDiscovered(address string) error {
	if here(address) && !here(c.options.Issuer) && !here(c.options.discovery()) {
		return fmt.Errorf("%w: http on this machine", errAddress)
	}
	return checkAddress(address)
}

// here says whether an address is one of http on this machine.
func here(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && loopback(u.Hostname())
}
