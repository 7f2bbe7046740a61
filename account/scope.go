package account

import (
	"fmt"
	"slices"
)

// The scopes of the API (spec 2.2).
const (
	ScopeSignatures  = "api/signatures" // the Signing API
	ScopePortalRead  = "portal/read"    // reading processes, documents and subscriptions
	ScopePortalWrite = "portal/write"   // changing them, and the sandbox's sign and decline
)

// Scopes are all scopes there are.
func Scopes() []string {
	return []string{ScopeSignatures, ScopePortalRead, ScopePortalWrite}
}

// Has says whether the caller was granted the scope.
func (c Caller) Has(scope string) bool {
	return slices.Contains(c.Scopes, scope)
}

// grant is what a client that may have the scopes of allowed gets when it asks
// for some: those, or all of its own when it asks for none (spec 2.1).
func grant(allowed, asked []string) ([]string, error) {
	if len(asked) == 0 {
		return slices.Clone(allowed), nil
	}
	var granted []string
	for _, scope := range asked {
		if !slices.Contains(allowed, scope) {
			return nil, ErrInvalidScope
		}
		if !slices.Contains(granted, scope) {
			granted = append(granted, scope)
		}
	}
	return granted, nil
}

// known are the scopes without repeats, when there are such scopes.
func known(scopes []string) ([]string, error) {
	if len(scopes) == 0 {
		return nil, nil
	}
	granted, err := grant(Scopes(), scopes)
	if err != nil {
		return nil, fmt.Errorf("%w: the scopes are %q", err, Scopes())
	}
	return granted, nil
}
