package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/pades"
)

// Reports on files of both formats are what the schema says, and are read back as they were; their text is
// the same then.
func TestJSON(t *testing.T) {
	schema := report.Compiled(t)
	for _, d := range documents(t) {
		encoded, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(schema, encoded); err != nil {
			t.Errorf("%s: %v\n%s", d.File, err, encoded)
		}
		var back report.Document
		if err := json.Unmarshal(encoded, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, back, cmpopts.EquateApproxTime(0)); diff != "" {
			t.Errorf("%s (-printed +read):\n%s", d.File, diff)
		}
	}
}

// What the schema does not allow is found: it says something.
func TestSchemaRefuses(t *testing.T) {
	schema := report.Compiled(t)
	s := newScene(t, "Jóna Jónsdóttir")
	encoded, err := json.Marshal(report.Of("a.pdf", s.judgedPDF(t, s.pdf(t, ades.LT, pades.Options{}), true)))
	if err != nil {
		t.Fatal(err)
	}
	if err := valid(schema, encoded); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"indication":"TOTAL_PASSED"`, `"indication":"PASSED"`},
		{`"subIndication":""`, `"subIndication":"BAD_LUCK"`},
		{`"passed":true`, `"passed":"true"`},
		{`"bestTime":"2026-06-17T12:00:00Z"`, `"bestTime":"17 June 2026"`},
		{`"problems":[]`, `"problems":null`},
		{`"intact":true,`, ``},
		{`"type":"SIGNATURE_TIMESTAMP"`, `"type":"CONTENT_TIMESTAMP"`},
		{`"coveredBytes":`, `"coveredBytes":-`},
	} {
		changed := strings.Replace(string(encoded), change[0], change[1], 1)
		if changed == string(encoded) {
			t.Errorf("no %s in %s", change[0], encoded)
		} else if valid(schema, []byte(changed)) == nil {
			t.Errorf("allowed: %s", change[1])
		}
	}
}

func valid(schema *jsonschema.Schema, encoded []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
