package httpapi

import (
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/stamp"
)

// Limits of the specification, in characters unless said otherwise. The fields are judged by them, and the
// document at /openapi.json tells them.
const (
	maxFileName     = 256
	maxKennitala    = 10 // of a signer hyphens aside, of a sandbox user with them
	maxPhone        = 16
	maxPlaceOrWhy   = 64 // signer.country, city and reason
	maxHolder       = 512
	maxFullName     = 64
	maxDelaySeconds = 300
	minZoom         = 1 // per cent
	maxZoom         = 1000
	maxKey          = 255 // of an Idempotency-Key
)

// maxSide is the longest side of a stamp in points, that of the largest page which viewers
// show (ISO 32000-1 annex C.2). One that is shorter than minSide would not be seen.
const minSide, maxSide = 1, 14400

// The values to choose from, of spec 3.2 and 6.1.
var (
	cornerNames      = []string{"TopLeft", "TopRight", "BottomLeft", "BottomRight"}
	formatNames      = []string{"Pdf", "Xml"}
	methodNames      = []string{string(idp.App), string(idp.SIM)}
	levelNames       = []string{"B", "T", "Lt", "Lta"}
	packingNames     = []string{"Enveloped", "Enveloping", "InternallyDetached"}
	positioningNames = []string{"Manual", "Auto"}
	imageNames       = []string{string(stamp.PNG), string(stamp.JPEG)}
	scalingNames     = []string{string(stamp.Stretch), string(stamp.ZoomAndCenter), string(stamp.Center)}
	actionNames      = []string{string(sandbox.Success), string(sandbox.Cancel)}
)
