package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// idInPath is an ID of the path, in the case that IDs have.
func idInPath(r *http.Request, name string) string { return strings.ToLower(r.PathValue(name)) }

// addFaults adds what a service has against the values of a body to what is wrong with the body
// itself, so that all is in one answer. A field that is faulty already has not reached the service,
// nor has what is in it.
func addFaults(body *jsonbody.Object, refused error) {
	known := body.Errors()
	for field, messages := range invalidFields(refused) {
		if !within(known, field) {
			body.Fault(field, strings.Join(messages, " "))
		}
	}
}

// within says whether a path is one of those given, or leads into one of them.
func within(paths map[string][]string, path string) bool {
	for outer := range paths {
		if rest, ok := strings.CutPrefix(path, outer); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// invalidFields are the fields that a refusal of a service's is about, with what it has against
// them; nil when it is about none.
func invalidFields(err error) map[string][]string {
	var hook *delivery.InvalidError
	var draft *portal.InvalidError
	all := make(map[string][]string)
	switch {
	case errors.As(err, &hook):
		for _, f := range hook.Faults {
			all[f.Field] = append(all[f.Field], f.Message)
		}
	case errors.As(err, &draft):
		for _, f := range draft.Faults {
			all[f.Field] = append(all[f.Field], f.Message)
		}
	default:
		return nil
	}
	return all
}
