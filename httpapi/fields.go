package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/webhook/delivery"
	"github.com/innsigli/innsigli/xades"
)

// Limits of fields in the specification, in characters unless said otherwise. The OpenAPI document states them too.
const (
	maxFileName     = 256
	maxKennitala    = 10 // without the hyphens for a signer, with them for a sandbox user
	maxPhone        = 16
	maxSignerText   = 64 // signer.country, city and reason
	maxUserID       = 512
	maxFullName     = 64
	maxDelaySeconds = 300
	minZoom         = 1 // percent
	maxZoom         = 1000
	maxKey          = 255 // of an Idempotency-Key
)

// maxSide is the longest side of a stamp in points, which is that of the largest page that viewers show (ISO 32000-1
// annex C.2). A stamp with a side shorter than minSide would be invisible.
const minSide, maxSide = 1, 14400

// enum is an enumerated field whose names in JSON differ from the values in the services. The names are in the order of
// the message about another name.
type enum[T any] []struct {
	name  string
	value T
}

// oneOf requires one of the names.
func (e enum[T]) oneOf() jsonbody.Rule {
	var names []string
	for _, one := range e {
		names = append(names, one.name)
	}
	return jsonbody.OneOf(names...)
}

// valueOr returns the value with the name. It returns absent for any other name, such as the empty one of a field that is
// absent or faulty.
func (e enum[T]) valueOr(name string, absent T) T {
	for _, one := range e {
		if one.name == name {
			return one.value
		}
	}
	return absent
}

const pdfType, xmlType = "Pdf", "Xml" // the names of formats

// The enumerated fields of spec 3.2, 3.3, 3.4 and 4.1.
var (
	formats  = enum[signing.Format]{{pdfType, signing.PDF}, {xmlType, signing.XML}}
	levels   = enum[ades.Level]{{"B", ades.B}, {"T", ades.T}, {"Lt", ades.LT}, {"Lta", ades.LTA}}
	packings = enum[signing.Packing]{{"Enveloped", xades.Enveloped}, {"Enveloping", xades.Enveloping}, {"InternallyDetached", xades.InternallyDetached}}
	corners  = enum[stamp.Corner]{
		{"TopLeft", stamp.TopLeft}, {"TopRight", stamp.TopRight}, {"BottomLeft", stamp.BottomLeft}, {"BottomRight", stamp.BottomRight},
	}
)

// The values of the other enumerated fields (spec 3.2, 3.3 and 6.1).
var (
	methodNames      = []string{string(idp.App), string(idp.SIM)}
	positioningNames = []string{"Manual", "Auto"}
	imageNames       = []string{string(stamp.PNG), string(stamp.JPEG)}
	scalingNames     = []string{string(stamp.Stretch), string(stamp.ZoomAndCenter), string(stamp.Center)}
	actionNames      = []string{string(sandbox.Success), string(sandbox.Cancel)}
)

// idInPath returns an ID from the path in lower case, as IDs are stored.
func idInPath(r *http.Request, name string) string { return strings.ToLower(r.PathValue(name)) }

// addFaults adds the invalid fields that a service reported to the faults of the body, so that one answer names all of
// them. It leaves out fields that are faulty already, or lie in one: the service did not get their values.
func addFaults(body *jsonbody.Object, refused error) {
	known := body.Errors()
	for field, messages := range invalidFields(refused) {
		if !within(known, field) {
			body.Fault(field, strings.Join(messages, " "))
		}
	}
}

// within reports whether a path is one of paths, or lies in one of them.
func within(paths map[string][]string, path string) bool {
	for outer := range paths {
		if rest, ok := strings.CutPrefix(path, outer); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// invalidFields returns the invalid fields that an error of a service names, with messages. It returns nil for any
// other error.
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
