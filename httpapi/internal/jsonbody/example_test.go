package jsonbody_test

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
)

func Example() {
	const request = `{
		"file":   {"type": "Pdf", "name": "", "contentB64": "SGFsbMOzIGhlaW11cg=="},
		"signer": {"kennitala": "0101302399", "signingMethod": "IdpSim"}
	}`
	body, err := jsonbody.Read(strings.NewReader(request), jsonbody.Options{
		Content: "file.contentB64",
		Sink: func(content io.Reader) error {
			_, err := io.Copy(os.Stdout, content)
			return err
		},
	})
	if err != nil {
		panic(err)
	}
	body.Content(jsonbody.Required)
	body.String("file.type", jsonbody.Required, jsonbody.OneOf("Pdf", "Xml"))
	body.String("file.name", jsonbody.Required, jsonbody.MaxLen(256))
	method := body.String("signer.signingMethod", jsonbody.Required, jsonbody.OneOf("IdpApp", "IdpSim"))
	body.String("signer.phone", jsonbody.RequiredIf(method == "IdpSim"), jsonbody.MaxLen(16))
	fmt.Printf("\n%q\n", body.Errors())
	// Output:
	// Halló heimur
	// map["file.name":["This field is required."] "signer.phone":["This field is required."]]
}

func ExampleWriteBase64() {
	document := strings.NewReader("Halló heimur")
	const prefix, suffix = `{"signedFileB64":"`, `"}`
	fmt.Println(int64(len(prefix)) + jsonbody.Base64Len(document.Size()) + int64(len(suffix)))
	if err := jsonbody.WriteBase64(os.Stdout, prefix, document, document.Size(), suffix); err != nil {
		panic(err)
	}
	// Output:
	// 40
	// {"signedFileB64":"SGFsbMOzIGhlaW11cg=="}
}
