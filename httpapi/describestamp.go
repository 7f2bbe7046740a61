package httpapi

import "github.com/innsigli/innsigli/httpapi/internal/openapi"

// imageSchema is the stamp of spec 3.3. What does not apply is judged by its type alone:
// the origin with Auto, and without an image what says how one is drawn (spec 3.3).
func imageSchema() *openapi.Schema {
	s := openapi.Object([]string{"alignment"}, openapi.Map[*openapi.Schema]{
		{Name: "alignment", Value: choice(cornerNames, "The corner that the stamp is measured from.")},
		{Name: "positioning", Value: defaulted(choice(positioningNames, "`Manual`: at originX and originY. `Auto`: in the first free place, looked for from the corner on."), positioningNames[0])},
		{Name: "originX", Value: origin("sideways")},
		{Name: "originY", Value: origin("up or down")},
		{Name: "page", Value: defaulted(atLeast(integer, 1, "The number of the page; the first is 1."), 1)},
		{Name: "imageB64", Value: encoded("", "An image to draw in place of the standard stamp, Base64: at most 2 MiB, 9 million pixels, and 16384 in a line. The standard stamp shows the signer's name and kennitala, the time and the reason.").OrNull()},
		{Name: "imageType", Value: &openapi.Schema{Type: strOrNull, Pattern: plain, Description: "What the image is, `Png` or `Jpeg`. Required with an image."}},
		{Name: "width", Value: side("width")},
		{Name: "height", Value: side("height")},
		{Name: "zoom", Value: &openapi.Schema{Type: openapi.Types{"integer", "null"}, Default: 100, Description: "How the image is scaled inside its box, 1 to 1000 per cent. What leaves the box is cut off."}},
		{Name: "scaling", Value: &openapi.Schema{Type: strOrNull, Pattern: plain, Default: scalingNames[0], Description: "How the image fits its box. `Stretch` fills it, `ZoomAndCenter` zooms to the nearer side and centres, `Center` centres with one pixel to a point."}},
	})
	s.AllOf = []*openapi.Schema{
		{If: is("positioning", positioningNames[1]), Else: openapi.Object([]string{"originX", "originY"}, openapi.Map[*openapi.Schema]{
			{Name: "originX", Value: atLeast(number, 0, "")},
			{Name: "originY", Value: atLeast(number, 0, "")},
		})},
		{If: openapi.Object([]string{"imageB64"}, openapi.Map[*openapi.Schema]{{Name: "imageB64", Value: &openapi.Schema{Type: str}}}), Then: drawnSchema()},
	}
	return s
}

func origin(way string) *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"number", "null"}, Description: "How far the stamp is from the corner " + way + ", in PDF points (1/72 inch) on the page as it is displayed; A4 is 595 x 842. Required, and 0 or more, with `Manual`; ignored with `Auto`."}
}

func side(what string) *openapi.Schema {
	return &openapi.Schema{Type: openapi.Types{"number", "null"}, Description: "The " + what + " of the stamp in PDF points, 1 to 14400. Required with an image, and ignored without one: the standard stamp is about 117 x 55."}
}

// drawnSchema is what holds of the members when there is an image.
func drawnSchema() *openapi.Schema {
	return openapi.Object([]string{"imageType", "width", "height"}, openapi.Map[*openapi.Schema]{
		{Name: "imageType", Value: choice(imageNames, "")},
		{Name: "width", Value: between(number, minSide, maxSide, "")},
		{Name: "height", Value: between(number, minSide, maxSide, "")},
		{Name: "zoom", Value: between(integer, minZoom, maxZoom, "").OrNull()},
		{Name: "scaling", Value: choice(scalingNames, "").OrNull()},
	})
}
