package httpapi

import (
	"net/http"
	"slices"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

// operation is one method of a path: what serves it, and what is said of it in the document at
// /openapi.json. Routes and document are both made from the operations, so neither can have what
// the other lacks.
type operation struct {
	method, path string
	// Exactly one of them serves it: open anybody, call whoever has a token.
	open handler
	call func(http.ResponseWriter, *http.Request, account.Caller) error
	// scope is what the token of a call has to grant; empty: any token will do.
	scope string
	// document: the body has one. ownPace: calls count against no limit.
	document, ownPace bool

	// id is the name of the method in generated clients.
	id, summary, text string
	tag               string
	parameters        []openapi.Parameter
	body              *openapi.RequestBody
	// answers are those beside problems.
	answers []answer
	// problems are those of its own; what every operation of its kind can answer is added.
	problems []problem
}

// handler is what serves an operation, once the caller is let through.
func (a *api) handler(o operation) handler {
	if o.call == nil {
		return o.open
	}
	call := o.call
	if !o.document {
		call = a.holding(call)
	}
	call = granted(o.scope, call)
	if o.ownPace { // it is never answered 429, whoever calls: spec 1.9
		return a.authenticated(call)
	}
	return a.unlessStrange(a.authenticated(a.counted(call)))
}

// operations returns those that the parts of the configuration can serve.
func (a *api) operations() (all []operation) {
	if a.Accounts != nil {
		all = append(all, a.tokenOperations()...)
	}
	if a.Signals != nil {
		all = append(all, a.busySignalOperation())
	}
	if a.Signing != nil {
		all = append(all, a.startOperation(), a.pollOperation())
	}
	if a.Portal != nil {
		all = append(all, a.processOperations()...)
	}
	if a.Webhooks != nil {
		all = append(all, a.webhookOperations()...)
	}
	if a.Sandbox != nil {
		all = append(all, a.sandboxOperations()...)
	}
	all = append(all, a.serverOperations()...)
	if a.Authority != nil {
		all = append(all, a.authorityOperations()...)
	}
	if a.Notifier != nil && a.News != nil {
		all = append(all, a.notificationOperations()...)
	}
	if a.Accounts == nil { // no token is valid
		all = slices.DeleteFunc(all, func(o operation) bool { return o.call != nil })
	}
	return all
}

// routes are the paths of operations. Each method is served by exactly one handler; a HEAD is no
// GET, which for a poll would not be safe.
func (a *api) routes(operations []operation) map[string]methods {
	routes := make(map[string]methods)
	for _, o := range operations {
		if routes[o.path] == nil {
			routes[o.path] = make(methods)
		}
		routes[o.path][o.method] = a.handler(o)
	}
	return routes
}
