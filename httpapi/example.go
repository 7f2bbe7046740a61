package httpapi

import (
	_ "embed"
	"encoding/base64"
)

//go:embed example.pdf
var exampleFile []byte

// examplePDF is the document in the examples: a PDF of one page that can be signed.
var examplePDF = base64.StdEncoding.EncodeToString(exampleFile)
