package openapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const clocks = `{"openapi":"3.1.1","servers":[{"url":"https://clocks.example"}],"paths":{
"/clocks":{"post":{"operationId":"makeClock","responses":{
  "201":{"description":"","headers":{"Location":{"required":true,"schema":{"type":"string","pattern":"^/clocks/"}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Clock"}}}},
  "400":{"description":"","headers":{"Retry-After":{"$ref":"#/components/headers/Retry-After"}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"},
    "examples":{"wrong":{"value":{"type":"https://clocks.example/problems/wrong","title":"Wrong"}}}}}}}}},
"/clocks/{id}":{"get":{"operationId":"getClock","responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Clock"}}}}}},
  "delete":{"operationId":"deleteClock","responses":{"204":{"description":""}}}},
"/face/{image}":{"get":{"operationId":"getFace","responses":{"2XX":{"description":"","content":{"image/png":{}}}}}}},
"webhooks":{"struck":{"post":{"operationId":"onStruck","requestBody":{"content":{"application/json":{"schema":{"type":"object","required":["type","hour"],"properties":{"type":{"const":"struck"},"hour":{"type":"integer"}}}}}},"responses":{}}}},
"components":{"headers":{"Retry-After":{"schema":{"type":"integer","minimum":0}}},"schemas":{
  "Clock":{"type":"object","required":["id"],"properties":{"id":{"type":"string","format":"uuid"},"face":{"type":["object","null"],"properties":{"hands":{"type":"integer"}}}}},
  "Problem":{"type":"object","required":["type","title"],"properties":{"type":{"type":"string"},"title":{"type":"string"}}}}}}`

const id = "0f8fad5b-d9cb-469f-a165-70867728950e"

// Answers that are right, and each of them with one thing wrong.
func TestAnswers(t *testing.T) {
	const right = ""
	made := map[string]string{"Content-Type": jsonType, "Location": "/clocks/1"}
	problem := map[string]string{"Content-Type": problemType}
	only := func(name, value string) map[string]string { return map[string]string{name: value} }
	for name, test := range map[string]struct {
		method, path string
		status       int
		header       map[string]string
		body         string
		want         string // a part of the error
	}{
		"made":                      {"POST", "/clocks", 201, made, `{"id":"` + id + `"}`, right},
		"with a member that may be": {"POST", "/clocks", 201, made, `{"id":"` + id + `","face":{"hands":2}}`, right},
		"null":                      {"POST", "/clocks", 201, made, `{"id":"` + id + `","face":null}`, right},
		"with a charset":            {"GET", "/clocks/1", 200, only("Content-Type", "application/json; charset=utf-8"), `{"id":"` + id + `"}`, right},
		"an undescribed member":     {"POST", "/clocks", 201, made, `{"id":"` + id + `","age":3}`, "'age'"},
		"one further in":            {"POST", "/clocks", 201, made, `{"id":"` + id + `","face":{"hands":2,"feet":0}}`, "'feet'"},
		"a member is missing":       {"POST", "/clocks", 201, made, `{}`, "missing property 'id'"},
		"a format":                  {"POST", "/clocks", 201, made, `{"id":"1"}`, "uuid"},
		"a type":                    {"POST", "/clocks", 201, made, `{"id":7}`, "got number"},
		"no JSON":                   {"POST", "/clocks", 201, made, `{"id"`, "no JSON"},
		"no body":                   {"POST", "/clocks", 201, made, ``, "no JSON"},
		"no Location":               {"POST", "/clocks", 201, only("Content-Type", jsonType), `{"id":"` + id + `"}`, "Location is missing"},
		"another Location":          {"POST", "/clocks", 201, map[string]string{"Content-Type": jsonType, "Location": "/watches/1"}, `{"id":"` + id + `"}`, `Location is "/watches/1"`},
		"another type of body":      {"POST", "/clocks", 201, map[string]string{"Content-Type": "text/plain", "Location": "/clocks/1"}, `{"id":"` + id + `"}`, "no body of type text/plain"},
		"no type of body":           {"GET", "/clocks/1", 200, nil, `{"id":"` + id + `"}`, `Content-Type is ""`},
		"a problem":                 {"POST", "/clocks", 400, problem, `{"type":"http://127.0.0.1:80/problems/wrong","title":"Wrong"}`, right},
		"a whole number":            {"POST", "/clocks", 400, map[string]string{"Content-Type": problemType, "Retry-After": "3"}, `{"type":"https://clocks.example/problems/wrong","title":"Wrong"}`, right},
		"no number":                 {"POST", "/clocks", 400, map[string]string{"Content-Type": problemType, "Retry-After": "soon"}, `{"type":"https://clocks.example/problems/wrong","title":"Wrong"}`, `Retry-After is "soon"`},
		"an undescribed header":     {"GET", "/clocks/1", 200, map[string]string{"Content-Type": jsonType, "ETag": `"1"`}, `{"id":"` + id + `"}`, "ETag"},
		"another problem":           {"POST", "/clocks", 400, problem, `{"type":"https://clocks.example/problems/late","title":"Late"}`, `"Late" is not among`},
		"another page":              {"POST", "/clocks", 400, problem, `{"type":"https://clocks.example/problems/late","title":"Wrong"}`, `"Wrong" is not among`},
		"another status":            {"POST", "/clocks", 500, problem, `{}`, "no such status"},
		"nothing":                   {"DELETE", "/clocks/1", 204, nil, ``, right},
		"something":                 {"DELETE", "/clocks/1", 204, nil, `{}`, "it has a body"},
		"a class of statuses":       {"GET", "/face/1", 206, only("Content-Type", "image/png"), `PNG`, right},
		"the rest of a path":        {"GET", "/face/a/b==", 200, only("Content-Type", "image/png"), `PNG`, right},
		"another method":            {"PUT", "/clocks/1", 405, map[string]string{"Content-Type": problemType, "Allow": "DELETE, GET, HEAD"}, `{}`, right},
		"one that is taken":         {"PUT", "/clocks/1", 200, only("Content-Type", jsonType), `{}`, "no such operation"},
		"not all that are":          {"PUT", "/clocks/1", 405, map[string]string{"Content-Type": problemType, "Allow": "GET"}, `{}`, "Allow"},
		"another path":              {"GET", "/watches", 404, problem, `{}`, right},
		"one that is there":         {"GET", "/watches", 200, only("Content-Type", jsonType), `{}`, "no such operation"},
		"as a page":                 {"GET", "/watches", 404, only("Content-Type", "text/html"), ``, "text/html"},
		"dots":                      {"GET", "/clocks/..", 404, problem, `{}`, right},
	} {
		t.Run(name, func(t *testing.T) {
			header := make(http.Header)
			for name, value := range test.header {
				header.Set(name, value)
			}
			err := parsed(t).Check(Answer{test.method, test.path, test.status, header, []byte(test.body)})
			switch {
			case test.want == right && err != nil:
				t.Error(err)
			case test.want != right && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("the error is %v, and has to say %q", err, test.want)
			}
		})
	}
}

func parsed(t *testing.T) *Document {
	t.Helper()
	d, err := Parse([]byte(clocks))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEvents(t *testing.T) {
	d := parsed(t)
	for body, right := range map[string]bool{
		`{"type":"struck","hour":3}`:             true,
		`{"type":"struck"}`:                      false,
		`{"type":"struck","hour":3,"minutes":0}`: false,
		`{"type":"stopped"}`:                     false,
		`none`:                                   false,
	} {
		if err := d.Event([]byte(body)); (err == nil) != right {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// A transport reports what is wrong, once for an answer, and what no answer had is known after.
func TestTransport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		_, _ = io.WriteString(w, `{"id":"`+strings.TrimPrefix(r.URL.Path, "/clocks/")+`"}`)
	}))
	defer server.Close()
	d := parsed(t)
	var faults []error
	c := http.Client{Transport: Transport(http.DefaultTransport, func(err error) { faults = append(faults, err) }, d)}
	defer c.CloseIdleConnections()
	for _, path := range []string{"/clocks/" + id, "/clocks/1", "/watches"} {
		answer, err := c.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(answer.Body); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	if len(faults) != 2 || !strings.Contains(faults[0].Error(), "uuid") || !strings.Contains(faults[1].Error(), "/watches") {
		t.Errorf("reported: %v", faults)
	}
	if got := d.Unseen(); !slices.Equal(got, []string{"deleteClock 204", "getFace 2XX", "makeClock 201", "makeClock 400"}) {
		t.Errorf("not seen: %q", got)
	}
	if got := d.Unmet(); !slices.Equal(got, []string{"deleteClock", "getFace", "makeClock"}) {
		t.Errorf("not met: %q", got)
	}
}

func TestDocumentsThatAreNone(t *testing.T) {
	for _, document := range []string{``, `[]`, `{"paths":[]}`, strings.Replace(clocks, `"type":"integer"`, `"type":"number of hands"`, 1)} {
		if _, err := Parse([]byte(document)); err == nil {
			t.Errorf("%.40q passes", document)
		}
	}
}
