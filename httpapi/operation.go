package httpapi

import (
	"net/http"
	"slices"

	"github.com/innsigli/innsigli/account"
)

// Paths that the package uses more than once.
const (
	tokenPath     = "/api/v1/auth/token"
	revokePath    = "/api/v1/auth/revoke"
	signingPath   = "/api/v1/signing"
	processesPath = "/api/v1/portal/signing-processes"
	webhooksPath  = "/api/v1/portal/webhooks"

	oneProcess       = processesPath + "/{signingProcessId}"
	oneWebhook       = webhooksPath + "/{subscriptionId}"
	sandboxUsersPath = "/api/v1/sandbox/users"
	oneParticipant   = "/api/v1/sandbox/portal/signing-processes/{signingProcessId}/participants/{participantId}"
)

// operation is a method of a path with its handler. openapi.yaml describes each operation.
type operation struct {
	method, path string
	// open serves anyone; call serves callers with a valid token. Exactly one of them is set.
	open handler
	call callHandler
	// scope is the scope that the token of a call must grant. If it is empty, any token is accepted.
	scope string
	// document reports whether the request has a document in its body, which is streamed and has its own byte budget.
	// unlimited exempts the operation from rate limits.
	document, unlimited bool
	// once reports whether a GET delivers something only once. HEAD would lose it, and is not served.
	once bool
}

// operations returns the operations of the parts that the configuration has.
func (a *api) operations() (all []operation) {
	if a.Accounts != nil {
		all = append(all,
			operation{method: "POST", path: tokenPath, open: a.limitAddress(a.token)},
			operation{method: "POST", path: revokePath, open: a.limitAddress(a.revoke)},
			operation{method: "GET", path: metadataPath, open: a.metadata},
		)
	}
	if a.Signals != nil {
		all = append(all, operation{method: "POST", path: signingPath + "/busy-signal", scope: account.ScopeSignatures, call: a.createBusySignal})
	}
	if a.Signing != nil {
		all = append(all,
			operation{method: "POST", path: signingPath, scope: account.ScopeSignatures, call: a.startSigning, document: true},
			operation{method: "GET", path: signingPath + "/{pollingId}", scope: account.ScopeSignatures, call: a.pollSigning, unlimited: true, once: true},
		)
	}
	if a.Portal != nil {
		all = append(all,
			operation{method: "POST", path: processesPath, scope: account.ScopePortalWrite, call: a.createProcess, document: true},
			operation{method: "GET", path: processesPath, scope: account.ScopePortalRead, call: a.listProcesses},
			operation{method: "GET", path: oneProcess, scope: account.ScopePortalRead, call: a.getProcess},
			operation{method: "DELETE", path: oneProcess, scope: account.ScopePortalWrite, call: a.deleteProcess},
			operation{method: "GET", path: oneProcess + "/document", scope: account.ScopePortalRead, call: a.getProcessDocument},
		)
	}
	if a.Webhooks != nil {
		all = append(all,
			operation{method: "POST", path: webhooksPath, scope: account.ScopePortalWrite, call: a.createWebhook},
			operation{method: "GET", path: webhooksPath, scope: account.ScopePortalRead, call: a.listWebhooks},
			operation{method: "GET", path: oneWebhook, scope: account.ScopePortalRead, call: a.getWebhook},
			operation{method: "PUT", path: oneWebhook, scope: account.ScopePortalWrite, call: a.updateWebhook},
			operation{method: "DELETE", path: oneWebhook, scope: account.ScopePortalWrite, call: a.deleteWebhook},
			operation{method: "POST", path: oneWebhook + "/activate", scope: account.ScopePortalWrite, call: a.activateWebhook},
			operation{method: "POST", path: oneWebhook + "/test", scope: account.ScopePortalWrite, call: a.testWebhook},
			operation{method: "GET", path: "/.well-known/webhook-key.pub", open: a.webhookKeys},
		)
	}
	if a.Sandbox != nil {
		all = append(all,
			operation{method: "POST", path: sandboxUsersPath, call: a.createSandboxUser},
			operation{method: "GET", path: sandboxUsersPath, call: a.listSandboxUsers},
			operation{method: "PUT", path: sandboxUsersPath + "/{uuid}", call: a.updateSandboxUser},
		)
	}
	if a.Sandbox != nil && a.Portal != nil {
		all = append(all,
			operation{method: "POST", path: oneParticipant + "/sign", scope: account.ScopePortalWrite, call: a.signAs},
			operation{method: "POST", path: oneParticipant + "/decline", scope: account.ScopePortalWrite, call: a.declineAs},
		)
	}
	if a.TestCA != nil {
		all = append(all,
			operation{method: "GET", path: "/.well-known/sandbox-root.pem", open: a.sandboxRoot},
			operation{method: "POST", path: "/tsa", open: answerDER(timestampQuery, timestampReply, a.TestCA.Timestamp)},
			operation{method: "POST", path: "/ocsp", open: answerDER(ocspRequest, ocspResponse, a.TestCA.OCSP)},
			operation{method: "GET", path: ocspInPath, open: a.answerOCSPInPath},
			operation{method: "GET", path: "/crl", open: serveDER(crlType, a.TestCA.CRL)},
			operation{method: "GET", path: "/crl/root", open: serveDER(crlType, a.TestCA.RootCRL)},
			operation{method: "GET", path: "/issuers.p7c", open: serveDER(issuersType, a.TestCA.Issuers)},
		)
	}
	if a.Notifier != nil && a.Notifications != nil {
		all = append(all, operation{method: "POST", path: NotificationPath, open: a.receiveNotification})
	}
	all = append(all,
		operation{method: "GET", path: openAPIPath, open: a.openAPI},
		operation{method: "GET", path: "/healthz", open: a.alive},
		operation{method: "GET", path: "/readyz", open: a.ready},
		operation{method: "GET", path: "/problems/{name}", open: a.problemPage},
	)
	if a.Accounts == nil { // no caller can authenticate
		all = slices.DeleteFunc(all, func(o operation) bool { return o.call != nil })
	}
	return all
}

// routes returns the handlers of operations by path and method. The handler of GET also serves HEAD, of which net/http
// sends no body (RFC 9110 9.3.2), unless the operation delivers once.
func (a *api) routes(operations []operation) map[string]methods {
	routes := make(map[string]methods)
	for _, o := range operations {
		if routes[o.path] == nil {
			routes[o.path] = make(methods)
		}
		h := a.handler(o)
		routes[o.path][o.method] = h
		if o.method == http.MethodGet && !o.once {
			routes[o.path][http.MethodHead] = h
		}
	}
	return routes
}

// handler returns the handler of an operation, behind authentication and rate limits.
func (a *api) handler(o operation) handler {
	if o.call == nil {
		return o.open
	}
	call := o.call
	if !o.document {
		call = a.limitBodies(call)
	}
	call = requireScope(o.scope, call)
	if o.unlimited { // a poll is never answered 429 (spec 1.9)
		return a.authenticate(call)
	}
	return a.limitFailedAuth(a.authenticate(a.limitClient(call)))
}
