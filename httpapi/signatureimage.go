package httpapi

import (
	"context"
	"math"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
)

var corners = map[string]stamp.Corner{
	"TopLeft": stamp.TopLeft, "TopRight": stamp.TopRight, "BottomLeft": stamp.BottomLeft, "BottomRight": stamp.BottomRight,
}

// signatureImage reads the stamp of spec 3.3, for a document of a type; nil when there is
// none. What does not apply is judged by its type alone: the origin with Auto, and without an image what
// says how it is drawn (spec 1.1 and 3.3).
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
		Corner: corners[settings.String("alignment", jsonbody.Required, jsonbody.OneOf(cornerNames...))],
		Auto:   settings.String("positioning", jsonbody.OneOf(positioningNames...)) == "Auto",
	}
	if in.Auto || faulty(settings, "positioning") {
		ofTheirTypes(settings, "originX", "originY")
	} else {
		in.X = settings.Number("originX", jsonbody.Required, jsonbody.AtLeast(0))
		in.Y = settings.Number("originY", jsonbody.Required, jsonbody.AtLeast(0))
	}
	a.readImage(ctx, settings, in)
	return in
}

// ofTheirTypes judges numbers that do not apply: they are ignored, but a wrong type is one (spec 1.1).
func ofTheirTypes(settings *jsonbody.Object, numbers ...string) {
	for _, name := range numbers {
		settings.OptionalNumber(name)
	}
}

// readImage reads the image that is drawn in place of the standard stamp, if there is one.
func (a *api) readImage(ctx context.Context, settings *jsonbody.Object, in *signing.StampRequest) {
	encoded := settings.Base64("imageB64")
	if encoded == nil && !faulty(settings, "imageB64") {
		ofTheirTypes(settings, "width", "height")
		settings.OptionalString("imageType")
		settings.OptionalString("scaling")
		settings.OptionalInt("zoom")
		return
	}
	format := settings.String("imageType", jsonbody.Required, jsonbody.OneOf(imageNames...))
	in.Size = stamp.Size{
		Width:  settings.Number("width", jsonbody.Required, jsonbody.Between(minSide, maxSide)),
		Height: settings.Number("height", jsonbody.Required, jsonbody.Between(minSide, maxSide)),
	}
	in.Drawing = stamp.Drawing{
		Scaling: stamp.Scaling(settings.String("scaling", jsonbody.OneOf(scalingNames...))),
		Zoom:    int(jsonbody.Or(settings.OptionalInt("zoom", jsonbody.Between(minZoom, maxZoom)), 100)),
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
// (spec 3.3).
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
