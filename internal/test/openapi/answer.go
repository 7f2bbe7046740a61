package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// Answer is an answer to a request.
type Answer struct {
	Method string
	Path   string // escaped
	Status int
	Header http.Header
	// Body is nil where it was not kept, and is not judged then.
	Body []byte
}

// Check says what is wrong with an answer. A method that a path does not have has to be answered with
// 405 and those that it has, and a path that there is not with 404.
func (d *Document) Check(a Answer) error {
	path, methods := d.find(a.Path)
	if methods == nil && a.Status != http.StatusNotFound {
		path, methods = d.rest(a.Path)
	}
	o := methods[a.Method]
	if a.Method == http.MethodHead && takesHead(path, methods) {
		o = methods[http.MethodGet]
	}
	var err error
	switch {
	case methods == nil:
		err = a.refused(http.StatusNotFound)
	case o == nil:
		err = a.refused(http.StatusMethodNotAllowed)
		if got, want := a.Header.Get("Allow"), allow(path, methods); err == nil && got != want {
			err = fmt.Errorf("the header Allow is %q instead of %q", got, want)
		}
	default:
		path = o.id
		err = d.check(o, a)
	}
	if err != nil {
		return fmt.Errorf("%s %s (%s) answers %d: %w", a.Method, a.Path, path, a.Status, err)
	}
	return nil
}

// find looks for the path of the document that a path is one of; one without parameters goes first.
func (d *Document) find(path string) (template string, methods map[string]*operation) {
	if methods, ok := d.paths[path]; ok {
		return path, methods
	}
	parts := strings.Split(path, "/")
	for template, methods := range d.paths {
		if matches(strings.Split(template, "/"), parts) {
			return template, methods
		}
	}
	return "none of the document's", nil
}

// rest looks for a path whose last part is a parameter that takes the rest of one, slashes and all, as
// Base64 may have them (RFC 6960 A.1).
func (d *Document) rest(path string) (template string, methods map[string]*operation) {
	for template, methods := range d.paths {
		if before, _, ok := strings.Cut(template, "{"); ok && strings.HasSuffix(before, "/") && strings.HasPrefix(path, before) && strings.Count(template, "/") == strings.Count(before, "/") {
			return template, methods
		}
	}
	return "none of the document's", nil
}

func matches(template, path []string) bool {
	if len(template) != len(path) {
		return false
	}
	for i, part := range template {
		if isParameter := strings.HasPrefix(part, "{"); part != path[i] && (!isParameter || path[i] == "" || path[i] == "." || path[i] == "..") {
			return false
		}
	}
	return true
}

// refused judges an answer that the document has nothing of.
func (a Answer) refused(status int) error {
	if a.Status != status {
		return errors.New("the document has no such operation")
	}
	if kind := a.Header.Get("Content-Type"); kind != problemType {
		return fmt.Errorf("its type is %q instead of %s", kind, problemType)
	}
	return nil
}

// check judges an answer of an operation.
func (d *Document) check(o *operation, a Answer) error {
	name, r, ok := o.response(a.Status)
	if !ok {
		return errors.New("the document has no such status")
	}
	d.judged(o, name)
	for name, h := range r.Headers {
		if err := h.check(name, a.Header.Get(name)); err != nil {
			return err
		}
	}
	for _, name := range telling {
		if _, known := r.Headers[name]; !known && a.Header.Get(name) != "" {
			return fmt.Errorf("the document does not have the header %s", name)
		}
	}
	if a.Body == nil {
		return nil
	}
	if len(r.Content) == 0 {
		if len(a.Body) > 0 {
			return fmt.Errorf("it has a body: %.100q", a.Body)
		}
		return nil
	}
	return d.checkBody(r, a)
}

// telling are the headers that clients go by, which an operation may answer only where the document says so.
var telling = []string{"Allow", "ETag", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After", "Set-Cookie", "WWW-Authenticate"}

// check judges a header, which counts as absent when it is empty.
func (h header) check(name, value string) error {
	if value == "" {
		if h.Required {
			return fmt.Errorf("the header %s is missing", name)
		}
		return nil
	}
	if h.schema == nil || h.schema.Validate(value) == nil || h.schema.Validate(json.Number(value)) == nil && isNumber(value) {
		return nil
	}
	return fmt.Errorf("the header %s is %q", name, value)
}

func isNumber(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil
}

// checkBody judges the media type, and what is JSON.
func (d *Document) checkBody(r response, a Answer) error {
	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("its Content-Type is %q", a.Header.Get("Content-Type"))
	}
	m, ok := r.Content[kind]
	if !ok {
		return fmt.Errorf("the document has no body of type %s", kind)
	}
	if kind != jsonType && kind != problemType {
		return nil
	}
	if err := conforms(m.schema, a.Body); err != nil {
		return fmt.Errorf("the body does not conform: %w\n%.500s", err, a.Body)
	}
	if kind == problemType {
		return d.checkProblem(m, a.Body)
	}
	return nil
}

// checkProblem finds a problem among the examples by its type, which need not be of the same server.
func (d *Document) checkProblem(m mediaType, body []byte) error {
	type problem struct{ Type, Title string }
	var got problem
	if err := json.Unmarshal(body, &got); err != nil {
		return err
	}
	for _, example := range m.Examples {
		var known problem
		if err := json.Unmarshal(example.Value, &known); err != nil {
			return err
		}
		if known.Title == got.Title && strings.HasSuffix(got.Type, strings.TrimPrefix(known.Type, d.base)) {
			return nil
		}
	}
	return fmt.Errorf("the problem %q is not among the examples of the document", got.Title)
}
