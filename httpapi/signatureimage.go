package httpapi

import (
	"context"
	"math"

	"github.com/innsigli/innsigli/internal/jsonbody"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
)

// maxSide is the longest side of a stamp in points, that of the largest page which viewers
// show (ISO 32000-1 annex C.2). One that is shorter than a point would not be seen.
const maxSide = 14400

var corners = map[string]stamp.Corner{
	"TopLeft": stamp.TopLeft, "TopRight": stamp.TopRight, "BottomLeft": stamp.BottomLeft, "BottomRight": stamp.BottomRight,
}

// signatureImage reads the stamp of service.md 2.1, for a document of a type; nil when there is
// none. What does not apply is not looked at: the origin with Auto, and without an image what
// says how it is drawn (decisions.md 4.14).
func (a *api) signatureImage(ctx context.Context, body *jsonbody.Object, document string) *signing.StampRequest {
	settings := body.Object("signatureImage")
	if settings == nil {
		return nil
	}
	if document == "Xml" {
		body.Fault("signatureImage", "Stamps are drawn on PDF documents alone.")
		return nil
	}
	page := jsonbody.Or(settings.OptionalInt("page"), 1)
	in := &signing.StampRequest{
		Page:   int(min(max(page, 0), math.MaxInt32)), // the numbers beyond are no pages either
		Corner: corners[settings.String("alignment", jsonbody.Required, jsonbody.OneOf("TopLeft", "TopRight", "BottomLeft", "BottomRight"))],
		Auto:   settings.String("positioning", jsonbody.OneOf("Manual", "Auto")) == "Auto",
	}
	if !in.Auto && !faulty(settings, "positioning") {
		in.X = settings.Number("originX", jsonbody.Required, jsonbody.AtLeast(0))
		in.Y = settings.Number("originY", jsonbody.Required, jsonbody.AtLeast(0))
	}
	a.readImage(ctx, settings, in)
	return in
}

// readImage reads the image that is drawn in place of the standard stamp, if there is one.
func (a *api) readImage(ctx context.Context, settings *jsonbody.Object, in *signing.StampRequest) {
	encoded := settings.Base64("imageB64")
	if encoded == nil && !faulty(settings, "imageB64") {
		return
	}
	format := settings.String("imageType", jsonbody.Required, jsonbody.OneOf(string(stamp.PNG), string(stamp.JPEG)))
	in.Size = stamp.Size{
		Width:  settings.Number("width", jsonbody.Required, jsonbody.Between(1, maxSide)),
		Height: settings.Number("height", jsonbody.Required, jsonbody.Between(1, maxSide)),
	}
	in.Drawing = stamp.Drawing{
		Scaling: stamp.Scaling(settings.String("scaling", jsonbody.OneOf(string(stamp.Stretch), string(stamp.ZoomAndCenter), string(stamp.Center)))),
		Zoom:    int(jsonbody.Or(settings.OptionalInt("zoom", jsonbody.Between(1, 1000)), 100)),
	}
	if encoded == nil || format == "" {
		return
	}
	select {
	case a.images <- struct{}{}:
		defer func() { <-a.images }()
	case <-ctx.Done(): // nobody hears the answer
		settings.Fault("imageB64", "Was not read.")
		return
	}
	var err error
	if in.Image, err = stamp.ReadImage(encoded, stamp.ImageType(format)); err != nil {
		settings.Fault("imageB64", imageFault)
	}
}

const imageFault = "Must be an image of the imageType that can be decoded, of at most 2 MiB, 9 million pixels and 16384 in a line."

// faulty says whether a member of signatureImage was found to be faulty.
func faulty(settings *jsonbody.Object, member string) bool {
	_, is := settings.Errors()["signatureImage."+member]
	return is
}

// outside is the answer to a stamp that leaves the page: it names what put it there
// (decisions.md 4.14).
func outside(in *signing.StampRequest) *problem {
	members := []string{"originX", "originY"}
	if in.Image != nil {
		members = append(members, "width", "height")
	}
	faults := map[string][]string{}
	for _, member := range members {
		faults["signatureImage."+member] = []string{"The stamp leaves the page, or what a PDF can say of places."}
	}
	return invalid(faults)
}
