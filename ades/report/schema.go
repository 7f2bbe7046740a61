package report

import (
	_ "embed"
	"slices"
)

//go:embed verify.schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of a [Document].
func Schema() []byte { return slices.Clone(schema) }
