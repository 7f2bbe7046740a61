package openid

import (
	"slices"
	"strings"
)

// Confidential returns what a client keeps to itself, once each: its secret, who the people are,
// what their phones showed, its requests as they were sent, how it authenticated, and all that
// the provider has issued: auth_req_ids, access tokens and ID tokens.
func (p *Provider) Confidential() []string {
	p.t.Helper()
	var all []string
	p.order("confidential", nil, &all)
	all = append(all, p.Secret)
	for _, asked := range p.Asked() {
		all = append(all, asked.Form["request"])
		for _, name := range []string{"login_hint", "binding_message", "binding_message_long", "client_notification_token"} {
			text, _ := asked.Claims[name].(string)
			all = append(all, text)
		}
	}
	for _, call := range p.Calls() {
		_, credentials, _ := strings.Cut(call.Authorization, " ")
		all = append(all, credentials)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" })
}
