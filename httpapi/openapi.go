package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

const documentPath = "/openapi.json"

// publication is the document as it is sent.
type publication struct {
	document []byte
	tag      string
	err      error // an example is no JSON
}

// publish makes the document of operations.
func (a *api) publish(operations []operation) publication {
	b, err := json.Marshal(a.document(operations))
	sum := sha256.Sum256(b)
	return publication{b, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, err}
}

// openAPI answers with the document, or that the client has it (RFC 9110 13.1.2).
func (a *api) openAPI(w http.ResponseWriter, r *http.Request) error {
	published := a.published()
	if err := published.err; err != nil {
		return fmt.Errorf("httpapi: the document of the API: %w", err)
	}
	w.Header().Set("ETag", published.tag)
	if known(r.Header.Values("If-None-Match"), published.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", jsonType)
	_, err := clientWriter{w}.Write(published.document)
	return err
}

// known says whether a list of tags has one, compared weakly.
func known(lists []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(lists, ","), ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}
