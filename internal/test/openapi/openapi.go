// Package openapi judges what an API answers by the OpenAPI document that describes it: whether
// there is such a path, method and status, whether the headers are there that have to be, and whether a
// body is of a media type and a shape that the document has. It is stricter than the document, which lets
// answers have members that it does not describe: a member that is not described is a fault here.
//
//	d, err := openapitest.Parse(document)
//	client := &http.Client{Transport: openapitest.Transport(http.DefaultTransport, func(err error) { t.Error(err) }, d)}
//
// It reads as much of OpenAPI 3.1 as httpapi/openapi.yaml uses. A Document may be used by several goroutines.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is a document by which answers are judged.
type Document struct {
	base  string // of the server
	paths map[string]map[string]*operation
	// webhooks are the schemas of what is sent, by the name of the webhook.
	webhooks map[string]*jsonschema.Schema

	mu   sync.Mutex
	seen map[string]bool // operationId and status, of answers that were judged
}

// operation is a method of a path.
type operation struct {
	id        string
	request   *jsonschema.Schema  // of a body in JSON; nil: any
	responses map[string]response // by status, such as 200 or 2XX
}

// response is what is answered with a status.
type response struct {
	Headers map[string]header    `json:"headers"`
	Content map[string]mediaType `json:"content"`
}

type header struct {
	Required bool `json:"required"`
	schema   *jsonschema.Schema
}

type mediaType struct {
	Examples map[string]struct {
		Value json.RawMessage `json:"value"`
	} `json:"examples"`
	schema *jsonschema.Schema // nil: any
}

// Parse reads a document.
func Parse(document []byte) (*Document, error) {
	d := &Document{paths: make(map[string]map[string]*operation), webhooks: make(map[string]*jsonschema.Schema), seen: make(map[string]bool)}
	var err error
	if document, err = Resolve(document); err != nil {
		return nil, err
	}
	compiler, err := newCompiler(document)
	if err != nil {
		return nil, err
	}
	var read struct {
		Servers []struct {
			URL string `json:"url"`
		} `json:"servers"`
		Paths    map[string]map[string]described `json:"paths"`
		Webhooks map[string]map[string]described `json:"webhooks"`
	}
	if err := json.Unmarshal(document, &read); err != nil {
		return nil, fmt.Errorf("openapitest: %w", err)
	}
	if len(read.Servers) > 0 {
		d.base = read.Servers[0].URL
	}
	for path, methods := range read.Paths {
		d.paths[path] = make(map[string]*operation)
		for method, o := range methods {
			at := []string{"paths", path, method}
			if d.paths[path][strings.ToUpper(method)], err = o.operation(compiler, at); err != nil {
				return nil, err
			}
		}
	}
	for name := range read.Webhooks {
		at := []string{"webhooks", name, "post", "requestBody", "content", jsonType, "schema"}
		if d.webhooks[name], err = compiler.schema(at...); err != nil {
			return nil, err
		}
	}
	return d, nil
}

const jsonType, problemType = "application/json", "application/problem+json"

// described is an operation as the document has it.
type described struct {
	ID        string              `json:"operationId"`
	Responses map[string]response `json:"responses"`
}

// operation compiles the schemas of an operation.
func (o described) operation(c *compiler, at []string) (*operation, error) {
	for status, r := range o.Responses {
		for name, h := range r.Headers {
			var err error
			if h.schema, err = c.schema(slices.Concat(at, []string{"responses", status, "headers", name, "schema"})...); err != nil {
				return nil, err
			}
			r.Headers[name] = h
		}
		for name, m := range r.Content {
			var err error
			if m.schema, err = c.schema(slices.Concat(at, []string{"responses", status, "content", name, "schema"})...); err != nil {
				return nil, err
			}
			r.Content[name] = m
		}
	}
	request, err := c.schema(slices.Concat(at, []string{"requestBody", "content", jsonType, "schema"})...)
	return &operation{o.ID, request, o.Responses}, err
}

// Request judges a body that is sent to an operation in JSON, whose path is as the document has it.
func (d *Document) Request(method, path string, body []byte) error {
	o := d.paths[path][method]
	if o == nil {
		return fmt.Errorf("the document has no %s %s", method, path)
	}
	return conforms(o.request, body)
}

// Event judges a body that is sent to an endpoint, by the webhook of its type.
func (d *Document) Event(body []byte) error {
	var event struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return fmt.Errorf("the event is no JSON: %w", err)
	}
	schema, known := d.webhooks[event.Type]
	if !known {
		return fmt.Errorf("there is no webhook %q in the document", event.Type)
	}
	return conforms(schema, body)
}

// conforms judges JSON by a schema.
func conforms(schema *jsonschema.Schema, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	if schema == nil {
		return nil
	}
	return schema.Validate(v)
}

// response is what the document says of a status.
func (o *operation) response(status int) (name string, r response, ok bool) {
	for _, name := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX"} {
		if r, ok := o.responses[name]; ok {
			return name, r, true
		}
	}
	return "", response{}, false
}

// poll is the path whose GET delivers its result once. It takes no HEAD, as all other paths with GET do.
const poll = "/api/v1/signing/{pollingId}"

// takesHead reports whether a path takes HEAD, which the document does not describe: it is GET without the body.
func takesHead(path string, methods map[string]*operation) bool {
	return methods[http.MethodGet] != nil && path != poll
}

// allow returns the header Allow of a path.
func allow(path string, methods map[string]*operation) string {
	all := slices.Collect(maps.Keys(methods))
	if takesHead(path, methods) {
		all = append(all, http.MethodHead)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
