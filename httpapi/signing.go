package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/xades"
)

// createBusySignal is POST /api/v1/signing/busy-signal (spec 3.11).
func (a *api) createBusySignal(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	if _, err := readBody(w, r, jsonbody.Options{Optional: true}); err != nil {
		return err
	}
	id, err := a.Signals.Create(r.Context(), caller.AccountID)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, struct {
		ID string `json:"id"`
	}{id})
}

// startSigning is POST /api/v1/signing (spec 3.2 and 3.5).
func (a *api) startSigning(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	upload := a.upload(r.Context(), caller)
	defer upload.close()
	body, err := upload.read(w, r, jsonbody.Options{Content: "file.contentB64"})
	if err != nil {
		return err
	}
	in := a.startFields(r.Context(), body)
	if faults := body.Errors(); faults != nil {
		return invalid(faults)
	}
	in.Account, in.Client, in.Document = caller.AccountID, caller.ClientID, upload.take()
	if key != "" {
		in.Key = &signing.IdempotencyKey{Client: caller.ClientID, Key: key, Fingerprint: upload.fingerprint()}
	}
	started, err := a.Signing.Start(r.Context(), in)
	var refusal *signing.Refusal
	if errors.As(err, &refusal) {
		return writeJSON(w, http.StatusBadRequest, failureBody(refusal.Failure, ""))
	}
	if errors.Is(err, stamp.ErrOutside) || errors.Is(err, pades.ErrRect) {
		return outsidePage(in.Stamp)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, struct {
		PollingID string  `json:"pollingId"`
		ExpiresIn int     `json:"expiresIn"`
		Interval  int     `json:"interval"`
		Code      *string `json:"verificationCode"`
	}{started.ID, int(started.ExpiresIn.Seconds()), int(started.Interval.Seconds()), nullable(started.Code)})
}

// startFields reads the fields of spec 3.2.
func (a *api) startFields(ctx context.Context, body *jsonbody.Object) signing.Start {
	var in signing.Start
	body.Content(jsonbody.Required)
	in.Name = body.String("file.name", jsonbody.Required, jsonbody.MaxLen(maxFileName))
	kind := body.String("file.type", jsonbody.Required, jsonbody.OneOf(formatNames...))
	in.Format = formats[kind]
	method := body.String("signer.signingMethod", jsonbody.Required, jsonbody.OneOf(methodNames...))
	in.Person.Method = idp.Method(method)
	in.Person.Kennitala = idp.NormalizeKennitala(body.String("signer.kennitala", jsonbody.Required, jsonbody.Must(validKennitala, "Must be 1 to 10 characters, hyphens aside.")))
	if in.Person.Method == idp.SIM {
		in.Person.Phone = body.String("signer.phone", jsonbody.Required, jsonbody.MaxLen(maxPhone))
	} else { // with the app, the value is ignored (spec 3.2), but not a wrong type (spec 1.1)
		body.String("signer.phone")
	}
	in.Country = body.String("signer.country", jsonbody.MaxLen(maxSignerText))
	in.City = body.String("signer.city", jsonbody.MaxLen(maxSignerText))
	in.Reason = body.String("signer.reason", jsonbody.MaxLen(maxSignerText))
	in.Stamp = a.signatureImage(ctx, body, kind)
	in.Level, in.Packing = advancedSettings(body, kind)
	if signal := body.Object("busySignal"); signal != nil {
		in.BusySignal = &signing.BusySignalUse{
			ID:     signal.UUID("id", jsonbody.Required),
			UserID: signal.OptionalString("userId", jsonbody.MaxLen(maxUserID)),
		}
	}
	return in
}

// levels are the signature levels of spec 3.4, with the default.
var levels = map[string]ades.Level{"B": ades.B, "T": ades.T, "Lt": ades.LT, "Lta": ades.LTA, "": ades.LT}

// formats are the file types of spec 3.2.
var formats = map[string]signing.Format{"Pdf": signing.PDF, "Xml": signing.XML}

// packagings are the signature packagings of spec 3.4, with the default.
var packagings = map[string]signing.Packing{
	"Enveloped": xades.Enveloped, "Enveloping": xades.Enveloping, "InternallyDetached": xades.InternallyDetached, "": xades.Enveloped,
}

// advancedSettings reads advancedSignatureSettings for a document of a file type.
func advancedSettings(body *jsonbody.Object, document string) (ades.Level, signing.Packing) {
	level := body.String("advancedSignatureSettings.signatureLevel", jsonbody.OneOf(levelNames...))
	packing := body.String("advancedSignatureSettings.signaturePacking", jsonbody.OneOf(packagingNames...))
	if document == "Pdf" && packagings[packing] != xades.Enveloped {
		body.Fault("advancedSignatureSettings.signaturePacking", "Must be Enveloped for a PDF.")
	}
	return levels[level], packagings[packing]
}

func validKennitala(s string) bool {
	n := len([]rune(idp.NormalizeKennitala(s)))
	return n >= 1 && n <= maxKennitala
}

var corners = map[string]stamp.Corner{
	"TopLeft": stamp.TopLeft, "TopRight": stamp.TopRight, "BottomLeft": stamp.BottomLeft, "BottomRight": stamp.BottomRight,
}

// signatureImage reads the stamp of spec 3.3 for a document of a file type. It returns nil if there is none. Members
// that do not apply only need to have the right type (spec 1.1 and 3.3): the origin with Auto positioning, and how an
// image is drawn if there is no image.
func (a *api) signatureImage(ctx context.Context, body *jsonbody.Object, document string) *signing.StampRequest {
	settings := body.Object("signatureImage")
	if settings == nil {
		return nil
	}
	if document == "Xml" {
		body.Fault("signatureImage", "Stamps are drawn only on PDF documents.")
		return nil
	}
	page := jsonbody.Or(settings.OptionalInt("page"), 1)
	in := &signing.StampRequest{
		Page:   int(min(max(page, 0), math.MaxInt32)), // larger numbers are not pages either
		Corner: corners[settings.String("alignment", jsonbody.Required, jsonbody.OneOf(cornerNames...))],
		Auto:   settings.String("positioning", jsonbody.OneOf(positioningNames...)) == "Auto",
	}
	if in.Auto || hasFault(settings, "positioning") {
		checkNumberTypes(settings, "originX", "originY")
	} else {
		in.X = settings.Number("originX", jsonbody.Required, jsonbody.AtLeast(0))
		in.Y = settings.Number("originY", jsonbody.Required, jsonbody.AtLeast(0))
	}
	a.readImage(ctx, settings, in)
	return in
}

// checkNumberTypes checks the types of numbers that do not apply, and ignores their values (spec 1.1).
func checkNumberTypes(settings *jsonbody.Object, numbers ...string) {
	for _, name := range numbers {
		settings.OptionalNumber(name)
	}
}

// readImage reads the image that replaces the standard stamp, if there is one.
func (a *api) readImage(ctx context.Context, settings *jsonbody.Object, in *signing.StampRequest) {
	encoded := settings.Base64("imageB64")
	if encoded == nil && !hasFault(settings, "imageB64") {
		checkNumberTypes(settings, "width", "height")
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
	case <-ctx.Done(): // the client is gone and gets no answer
		settings.Fault("imageB64", "Was not read.")
		return
	}
	var err error
	if in.Image, err = stamp.ReadImage(encoded, stamp.ImageType(format)); err != nil {
		settings.Fault("imageB64", imageFault)
	}
}

const imageFault = "Must be an image of the imageType that can be decoded, of at most 2 MiB, 9 million pixels, and 16384 pixels on each side."

// hasFault reports whether a member of signatureImage has a fault.
func hasFault(settings *jsonbody.Object, member string) bool {
	_, ok := settings.Errors()["signatureImage."+member]
	return ok
}

// outsidePage is the answer to a stamp that lies partly outside the page. It names the members that place the stamp
// (spec 3.3).
func outsidePage(in *signing.StampRequest) *problem {
	members := []string{"originX", "originY"}
	if in.Image != nil {
		members = append(members, "width", "height")
	}
	faults := map[string][]string{}
	for _, member := range members {
		faults["signatureImage."+member] = []string{"The stamp exceeds the page, or the coordinates that a PDF can express."}
	}
	return invalid(faults)
}

// pollSigning is GET /api/v1/signing/{pollingId} (spec 3.7).
func (a *api) pollSigning(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
	written := false
	err := a.Signing.Poll(r.Context(), caller.AccountID, idInPath(r, "pollingId"), func(answer signing.Answer) error {
		if r.Context().Err() != nil {
			return errClientGone // nothing was written: a later poll gets the result
		}
		if answer.Document == nil {
			written = true
			return flush(w, writeJSON(w, http.StatusBadRequest, failureBody(answer.Failure, answer.Code)))
		}
		release, err := acquire(r.Context(), w, a.answers, caller.AccountID, answer.Document.Size())
		if err != nil {
			return err
		}
		defer release()
		written = true
		return writeDocument(r.Context(), w, `{"signedFileB64":"`, answer.Document, answer.Free)
	})
	if !written && errors.Is(err, errClientGone) {
		panic(http.ErrAbortHandler)
	}
	if !written || err == nil {
		return err
	}
	a.abort(r.Context(), err)
	return nil
}

// failure is the body of a refused start and of every 400 of a poll. It always has all members (spec 3.7).
type failure struct {
	Code             *string `json:"errorCode"`
	Error            *string `json:"error"`
	Description      *string `json:"errorDescription"`
	VerificationCode *string `json:"verificationCode"`
}

func failureBody(f idp.Failure, code string) failure {
	return failure{nullable(string(f.Code)), nullable(f.OAuth), nullable(f.Description), nullable(code)}
}

// NotificationPath is the path at which the identity provider notifies the server that a conversation has ended, such
// as by a ping of OpenID CIBA.
const NotificationPath = "/idp/notification"

// maxNotification is more than a ping needs: it has a bearer token of at most 1024 characters in the header, and the ID
// of an authentication request in the body (CIBA Core 1.0 7.1 and 10.2).
const maxNotification = 16 << 10

// receiveNotification answers 204 to an authentic notification (CIBA Core 1.0 10.2). A sender that does not know the
// conversation's secret gets the answer for a conversation that does not exist.
func (a *api) receiveNotification(w http.ResponseWriter, r *http.Request) error {
	if err := limitBody(w, r, maxNotification); err != nil {
		return err
	}
	key, authentic, err := a.Notifier.Notification(r)
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return &tooLarge
	}
	if err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer realm="innsigli"`)
		return new(invalidNotification)
	}
	if err := a.Notifications.Notified(r.Context(), key, authentic); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
