package page

import (
	"context"
	"net/url"

	"github.com/innsigli/innsigli/portal"
)

// noWays is the [Login] of a server that has none: the pages say so where the form would be.
type noWays struct{}

func (noWays) Ways() []Way { return nil }

func (noWays) Begin(context.Context, Way, string) (LoginState, error) {
	return LoginState{}, ErrRefusedLogin
}

// Poll is of a login that was begun when there was another configuration.
func (noWays) Poll(_ context.Context, s LoginState) (LoginState, *portal.Person, error) {
	return s, nil, ErrRefusedLogin
}

func (noWays) Finish(context.Context, LoginState, url.Values) (portal.Person, error) {
	return portal.Person{}, ErrRefusedLogin
}
