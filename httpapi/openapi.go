package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// openapi.yaml is the source of the API's description. "go generate" makes a JSON document from it for
// each environment.
//
//go:generate go run ../tools/openapi .
var (
	//go:embed openapi.sandbox.json
	sandboxOpenAPI []byte
	//go:embed openapi.production.json
	productionOpenAPI []byte
	//go:embed openapi.trial.json
	trialOpenAPI []byte
)

// placeholderURL stands for the base URL of the server in the description.
const placeholderURL = "https://sign.example"

const openAPIPath = "/openapi.json"

// publication is the OpenAPI document as it is sent, with its entity tag.
type publication struct {
	document []byte
	tag      string
	err      error
}

// publish returns the OpenAPI document of a server with these routes: the document of its environment, without the
// paths that the server does not serve. Each path belongs to one part of the configuration, with all its methods.
func (a *api) publish(routes map[string]methods) publication {
	document := productionOpenAPI
	switch {
	case a.Sandbox != nil:
		document = sandboxOpenAPI
	case a.TestCA != nil: // production with simulated people
		document = trialOpenAPI
	}
	document, err := onlyServed(document, routes)
	base, _ := json.Marshal(a.BaseURL) // marshaling a string cannot fail
	document = bytes.ReplaceAll(document, []byte(placeholderURL), bytes.Trim(base, `"`))
	sum := sha256.Sum256(document)
	return publication{document, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, err}
}

// onlyServed returns a document without the paths that have no route. Members keep their order, because people read
// them in it.
func onlyServed(document []byte, routes map[string]methods) ([]byte, error) {
	return editMembers(document, func(name string, value []byte) ([]byte, error) {
		if name != "paths" {
			return value, nil
		}
		return editMembers(value, func(path string, item []byte) ([]byte, error) {
			if routes[path] == nil {
				return nil, nil
			}
			return item, nil
		})
	})
}

// editMembers returns a JSON object with the value that edit returns for each member; nil removes the member.
func editMembers(object []byte, edit func(name string, value []byte) ([]byte, error)) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("httpapi: the description has no object where it needs one: %v", err)
	}
	var out bytes.Buffer
	separator := byte('{')
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		edited, err := edit(name.(string), value)
		if err != nil {
			return nil, err
		}
		if edited == nil {
			continue
		}
		key, _ := json.Marshal(name)
		out.WriteByte(separator)
		out.Write(key)
		out.WriteByte(':')
		out.Write(edited)
		separator = ','
	}
	if out.Len() == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// openAPI writes the document, or 304 if the client already has it (RFC 9110 13.1.2).
func (a *api) openAPI(w http.ResponseWriter, r *http.Request) error {
	published := a.published()
	if published.err != nil {
		return published.err
	}
	w.Header().Set("ETag", published.tag)
	if matchesETag(r.Header.Values("If-None-Match"), published.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return writeBytes(w, jsonType, published.document)
}

// matchesETag reports whether lists of entity tags contain one, by weak comparison.
func matchesETag(lists []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}
