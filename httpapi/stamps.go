package httpapi

import (
	"context"
	"math"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
)

// signatureImage reads the stamp of spec 3.3 for a document of a file type. It returns nil if there is none. Members
// that do not apply only need to have the right type (spec 1.1 and 3.3): the origin with Auto positioning, and how an
// image is drawn if there is no image.
func (a *api) signatureImage(ctx context.Context, body *jsonbody.Object, fileType string) *signing.StampRequest {
	settings := body.Object("signatureImage")
	if settings == nil {
		return nil
	}
	if fileType == xmlType {
		body.Fault("signatureImage", "Stamps are drawn only on PDF documents.")
		return nil
	}
	page := jsonbody.Or(settings.OptionalInt("page"), 1)
	in := &signing.StampRequest{
		Page:   int(min(max(page, 0), math.MaxInt32)), // larger numbers are not pages either
		Corner: corners.valueOr(settings.String("alignment", jsonbody.Required, corners.oneOf()), stamp.TopLeft),
		Auto:   settings.String("positioning", jsonbody.OneOf(positioningNames...)) == "Auto",
	}
	if in.Auto || settings.HasFault("positioning") { // if positioning is itself wrong, do not also complain about the origin
		settings.CheckNumbers("originX", "originY")
	} else {
		in.X = settings.Number("originX", jsonbody.Required, jsonbody.AtLeast(0))
		in.Y = settings.Number("originY", jsonbody.Required, jsonbody.AtLeast(0))
	}
	a.readImage(ctx, settings, in)
	return in
}

// readImage reads the image that replaces the standard stamp, if there is one.
func (a *api) readImage(ctx context.Context, settings *jsonbody.Object, in *signing.StampRequest) {
	encoded := settings.Base64("imageB64")
	if encoded == nil && !settings.HasFault("imageB64") {
		settings.CheckNumbers("width", "height")
		settings.CheckStrings("imageType", "scaling")
		settings.CheckInts("zoom")
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
	release, err := a.imageSlots.acquire(ctx)
	if err != nil { // the client is gone and gets no answer
		settings.Fault("imageB64", "The image was not read.")
		return
	}
	defer release()
	if in.Image, err = stamp.ReadImage(encoded, stamp.ImageType(format)); err != nil {
		settings.Fault("imageB64", imageFault)
	}
}

const imageFault = "Must be an image of the imageType that can be decoded, of at most 2 MiB, 9 million pixels, and 16384 pixels on each side."

// outsidePageProblem is the answer to a stamp that lies partly outside the page. It names the members that place the stamp
// (spec 3.3).
func outsidePageProblem(in *signing.StampRequest) *problem {
	members := []string{"originX", "originY"}
	if in.Image != nil {
		members = append(members, "width", "height")
	}
	faults := map[string][]string{}
	for _, member := range members {
		faults["signatureImage."+member] = []string{"The stamp must lie within the page, with coordinates that a PDF can express."}
	}
	return invalid(faults)
}
