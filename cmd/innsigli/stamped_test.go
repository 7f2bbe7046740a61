package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/innsigli/innsigli/stamp"
)

// withStamp has a start call ask for a stamp in the first free spot from the bottom right: by
// SIM with an image, which is a document of its own until the request has ended, else the
// standard one.
func withStamp(body, method string) string {
	settings := signatureImage
	if method == "IdpSim" {
		settings = fmt.Sprintf(`{"alignment":"BottomRight","positioning":"Auto","imageB64":%q,"imageType":"Png","width":100,"height":40}`, base64.StdEncoding.EncodeToString(square()))
	}
	return `{"signatureImage":` + settings + "," + body[1:]
}

// square is an image.
func square() []byte {
	picture := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 8 {
		picture.SetNRGBA(i, i, color.NRGBA{R: 0x17, G: 0x4a, B: 0x73, A: 0xff})
	}
	var b bytes.Buffer
	png.Encode(&b, picture) // a bytes.Buffer takes everything
	return b.Bytes()
}

// checkStamp checks that page 1 of a document has a stamp in the quarter at a corner.
func checkStamp(signed []byte, c stamp.Corner) error {
	page, err := stamp.ReadPage(bytes.NewReader(signed), int64(len(signed)), 1)
	if err != nil {
		return err
	}
	if _, err := page.Place(c, 0, 0, stamp.Size{Width: page.Width / 2, Height: page.Height / 2}); !errors.Is(err, stamp.ErrOverlap) {
		return fmt.Errorf("there is no stamp: placing one there: %v", err)
	}
	return nil
}

func wantStamp(t *testing.T, signed []byte) {
	t.Helper()
	if err := checkStamp(signed, stamp.BottomRight); err != nil {
		t.Error(err)
	}
}

func scriptStamped(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: stamped FILE CORNER")
	}
	corner, ok := parseCorner(args[1])
	if !ok {
		ts.Fatalf("%q is no corner", args[1])
	}
	if err := checkStamp([]byte(ts.ReadFile(args[0])), corner); (err == nil) == neg {
		ts.Fatalf("%s: %v", args[0], err)
	}
}
