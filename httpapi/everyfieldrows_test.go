package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/portal"
)

// everyBody returns all operations with a body.
func everyBody(c *client) []taking {
	c.user(person)
	return append(append(signingBodies(c), processBodies(c)...), append(webhookBodies(c), sandboxBodies(c)...)...)
}

func path(p string) func() string { return func() string { return p } }

func under(one func() string, call string) func() string {
	return func() string { return one() + call }
}

func nothing() fields { return fields{} }

// corners are the corners of a page.
var corners = []string{"TopLeft", "TopRight", "BottomLeft", "BottomRight"}

// spec 3.2.
func signingBodies(c *client) []taking {
	const settings, image = "advancedSignatureSettings", "signatureImage"
	body := func() fields {
		return startBody(idpSim).with(manual).with(ofImage(pngPicture(c.T), "Png")).with(fields{
			"busySignal.id": c.member(c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil), "id"), "busySignal.userId": "archive",
		})
	}
	return []taking{
		{http.MethodPost, "/api/v1/signing/busy-signal", path("/api/v1/signing/busy-signal"), http.StatusOK, nothing, nil},
		{http.MethodPost, "/api/v1/signing", path("/api/v1/signing"), http.StatusOK, body, []field{
			{"file", []invalidValues{notObject, missing}, nil},
			{"file.type", have(choice("Pdf", "Xml"), missing, blankText), nil},
			{"file.name", have(text(256), missing, blankText), long(256)},
			{"file.contentB64", []invalidValues{notText, unlikeB64, missing}, nil},
			{"signer", []invalidValues{notObject, missing}, nil},
			{"signer.kennitala", []invalidValues{notText, control, {"Must be 1 to 10 characters, not counting hyphens.", []any{"01013029891", "010130-29891", "-", "-----------", long(11)[0], long(11)[2]}}, missing, blankText},
				append(long(10), "010130-2989", "0-1-0-1-3-0-2-9-8-9", "1")},
			{"signer.signingMethod", have(choice("IdpApp", "IdpSim"), missing, blankText), []any{"IdpApp"}},
			{"signer.phone", have(text(16), missing, blankText), nil},
			{"signer.country", text(64), words(long(64)...)},
			{"signer.city", text(64), words(long(64)...)},
			{"signer.reason", text(64), words(long(64)...)},
			{image, []invalidValues{notObject}, []any{nil}},
			{image + ".alignment", have(choice(corners...), missing, blankText), []any{"BottomRight"}},
			{image + ".positioning", choice("Manual", "Auto"), words("Manual", "Auto")},
			{image + ".originX", have(amount("Must be 0 or more.", -0.001, -1, -1e300, number("-1e400")), infinite, missing), []any{0, number("-0"), number("1e-400"), number("36.0")}},
			{image + ".originY", have(amount("Must be 0 or more.", -0.001, -1, -1e300, number("-1e400")), infinite, missing), []any{0, number("-0.0"), number("0.48e2")}},
			{image + ".page", []invalidValues{notNumber, notWhole}, []any{1, number("1.0"), number("10e-1"), nil}},
			{image + ".imageB64", []invalidValues{notText, unlikeB64, {"Must be an image of the imageType that can be decoded, of at most 2 MiB, 9 million pixels, and 16384 pixels on each side.", []any{"QUJD", jpegPicture(c.T), make([]byte, 2<<20+1)}}}, []any{nil}},
			{image + ".imageType", have(choice("Png", "Jpeg"), missing, blankText), nil},
			{image + ".width", have(amount("Must be between 1 and 14400.", 0, 0.999, 14400.001, -80, 1e300, number("1e400"), number("-1e400")), missing), []any{1, 500.5}},
			{image + ".height", have(amount("Must be between 1 and 14400.", 0, 0.999, 14400.001, -40, 1e300, number("1e400"), number("-1e400")), missing), []any{1, 700.5}},
			{image + ".zoom", whole("Must be between 1 and 1000.", 0, -1, 1001, number("1e30"), number("-1e30"), number("1e400")), []any{1, 1000, number("1e2"), nil}},
			{image + ".scaling", choice("Stretch", "ZoomAndCenter", "Center"), words("Stretch", "ZoomAndCenter", "Center")},
			{settings, []invalidValues{notObject}, []any{nil, object{}}},
			{settings + ".signatureLevel", choice("B", "T", "Lt", "Lta"), words("T", "Lt", "Lta")},
			{settings + ".signaturePacking", have(choice("Enveloped", "Enveloping", "InternallyDetached"), invalidValues{"Must be Enveloped for a PDF.", []any{"Enveloping", "InternallyDetached"}}), words("Enveloped")},
			{"busySignal", []invalidValues{notObject}, []any{nil}},
			{"busySignal.id", []invalidValues{notText, control, unlikeUUID, missing, blankText}, nil},
			{"busySignal.userId", text(512), words(long(512)...)},
		}},
	}
}

// spec 4.1.
func processBodies(c *client) []taking {
	const one = "participants[0]."
	body := func() fields { return draft.with(fields{"signaturePage": 1}) }
	address := func(n int) string { return strings.Repeat("a", n-len("@example.is")) + "@example.is" }
	return []taking{{http.MethodPost, processes, path(processes), http.StatusCreated, body, []field{
		{"file", []invalidValues{notObject, missing}, nil},
		{"file.name", []invalidValues{notText, control,
			{"Must be at most 100 characters long.", []any{strings.Repeat("ð", 97) + ".pdf", strings.Repeat("𝔘", 97) + ".pdf"}},
			{`Must not contain / or \.`, []any{"a/b.pdf", `a\b.pdf`, "/.pdf", "../contract.pdf"}},
			{"Must end in .pdf.", []any{"contract", ".pdf", "contract.pdf ", "contract.pdf.exe", "contract.ｐｄｆ"}},
			missing, blankText,
		}, []any{strings.Repeat("ð", 96) + ".pdf", strings.Repeat("𝔘", 96) + ".pdf", "a.pdf", "A.PDF"}},
		{"file.contentBase64", []invalidValues{notText, unlikeB64, missing}, nil},
		{"participants", []invalidValues{notList, {"Must have 1 to 100 elements.", []any{[]any{}, signers(101), make([]object, 2000)}}, {"At least one participant must have the role Signer.", []any{[]any{reader}}}, missing}, []any{signers(3)}},
		{"participants[0]", []invalidValues{{"Must be an object.", []any{nil, "x", 5, []any{invitee}}}}, []any{reader}},
		{one + "name", have(text(256), missing, blankText), long(256)},
		{one + "email", have(text(256), invalidValues{"Must be an email address.", []any{"x", "x@", "@example.is", "Sigrún <sigrun@example.is>", "a@b.is, c@d.is", "a b@example.is", "a@@example.is", "a@exa mple.is"}},
			invalidValues{"Must be at most 256 characters long.", []any{address(257)}}, missing, blankText), []any{address(256), "þóra@example.is"}},
		{one + "role", have(choice("Signer", "Viewer"), missing, blankText), []any{"Signer", "Viewer"}},
		{one + "kennitala", []invalidValues{notText, control, {"Must be 10 digits.", []any{"010130298", "01013029891", "010130-2989", "٠١٠١٣٠٢٩٨٩", "-101302989", " 0101302989", "0101302989 "}}}, words("0101302989", "0000000000")},
		{one + "phoneNumber", []invalidValues{notText, control, {"Must be at most 7 digits.", []any{"55501011", "555-010", "+354555", "５５５", "5 5"}}}, words("5550101", "0")},
		{"signatureLocation", have(choice(corners...), missing, blankText), []any{"TopLeft", "TopRight", "BottomRight"}},
		{"signaturePage", []invalidValues{notNumber, notWhole}, []any{1, number("1.0"), number("10e-1"), nil}},
	}}}
}

// spec 5.1.
func webhookBodies(c *client) []taking {
	body := func() fields { return newHook("https://hooks.example/") }
	one := func() string { return webhooks + "/" + c.subscribe("https://hooks.example/") }
	types := "Must be one of: " + strings.Join(portal.EventTypes(), ", ") + "."
	address := func(n int) string {
		const start = "https://hooks.example/"
		return start + strings.Repeat("x", n-len(start))
	}
	url := []invalidValues{
		notText,
		control,
		{"Must be at most 512 characters long.", []any{address(513), "https://hooks.example/" + strings.Repeat("ð", 491)}},
		{"Must not contain white space or control characters.", []any{"https://hooks.example/a b", " https://hooks.example/", "https://hooks.example/\u2028"}},
		{"Must be an https URL.", []any{"x", "http://hooks.example/", "ftp://hooks.example/", "//hooks.example/", "hooks.example", "javascript:alert(1)", "file:///etc/passwd"}},
		{"Must have a host.", []any{"https://", "https:///path", "https://:443/"}},
		{"Must not contain a fragment.", []any{"https://hooks.example/#a"}},
		{"Must not contain a user name or password.", []any{"https://a@hooks.example/", "https://a:b@hooks.example/"}},
		{"The host must not be a local, private or reserved address.", []any{"https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://10.0.0.1/", "https://169.254.169.254/latest/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fe80::1]/", "https://0.0.0.0/"}},
		{"The host must be a public name, such as hooks.example.com.", []any{"https://localhost/", "https://a.localhost/", "https://printer.local/", "https://vault.internal/", "https://intranet/"}},
		{"The port must be a number from 1 to 65535.", []any{"https://hooks.example:0/", "https://hooks.example:65536/", "https://hooks.example:/", "https://hooks.example:+443/"}},
		{"The host must be in ASCII; an international name is written with xn--.", []any{"https://höfn.example/", "https://１２７.0.0.1/"}},
	}
	list := []invalidValues{notList, {"Must have 1 to 100 elements.", []any{[]any{}, make([]any, 101), make([]any, 9_000)}}}
	element := []invalidValues{{"Must be a string.", []any{5, nil, true, object{}, []any{}}}, control, {types, []any{"x", "webhook.ping", "Process.Completed", "process.completed ", "*"}}, blankText}
	right := []any{[]string{"participant.signed", "participant.signed"}, portal.EventTypes()}
	return []taking{
		{http.MethodPost, webhooks, path(webhooks), http.StatusCreated, body, []field{
			{"url", have(url, missing, blankText), []any{address(512), "https://hooks.example:8443/in?for=a%20b", "HTTPS://hooks.example"}},
			{"eventTypes", have(list, missing), right},
			{"eventTypes[0]", element, []any{"participant.declined"}},
		}},
		{http.MethodPut, webhooks + "/{subscriptionId}", one, http.StatusOK, body, []field{
			{"url", url, words(address(512))},
			{"eventTypes", list, append(right, nil)},
			{"eventTypes[0]", element, []any{"participant.declined"}},
			{"isActive", []invalidValues{notBool}, []any{false, nil}},
		}},
		{http.MethodPost, webhooks + "/{subscriptionId}/activate", under(one, "/activate"), http.StatusOK, nothing, nil},
		{http.MethodPost, webhooks + "/{subscriptionId}/test", under(one, "/test"), http.StatusNoContent, nothing, nil},
	}
}

// spec 6.1 and 6.4.
func sandboxBodies(c *client) []taking {
	made := 0
	fresh := func() fields { // each has a kennitala and a phone of their own
		made++
		return fields{"fullName": "Sandbox Signer", "kennitala": fmt.Sprintf("5%09d", made), "phone": fmt.Sprintf("8%06d", made)}
	}
	user := c.user(fresh())
	kennitala := []invalidValues{notText, control, {"Must be at most 10 characters long.", append(long(11), "010130-2989")}, {"Must contain more than hyphens.", []any{"-", "----------"}}}
	delay := field{"delayInSecondsBeforeAction", whole("Must be between 0 and 300.", -1, 301, number("1e30"), number("-1e30"), number("1e400")), []any{0, 300, number("-0"), number("3.0e2"), nil}}
	action := field{"action", choice("Success", "Cancel"), words("Success", "Cancel")}
	process := func(call string) func() string {
		return func() string { return answering(c.made(draft), 0, call) }
	}
	const answered = answers + "{signingProcessId}/participants/{participantId}"
	return []taking{
		{http.MethodPost, users, path(users), http.StatusOK, fresh, []field{
			{"fullName", have(text(64), missing, blankText), long(64)},
			{"kennitala", have(kennitala, missing, blankText), long(10)},
			{"phone", have(text(16), missing, blankText), long(16)},
			delay, action,
		}},
		{http.MethodPut, users + "/{uuid}", path(users + "/" + user), http.StatusNoContent, nothing, []field{
			{"fullName", text(64), words(long(64)...)},
			{"kennitala", kennitala, words("7777777777", "777-777-77")},
			{"phone", text(16), words("777 7777 777 777")},
			delay, action,
		}},
		{http.MethodPost, answered + "/sign", process("sign"), http.StatusNoContent, func() fields { return fields{"sandboxUserId": c.user(fresh())} }, []field{
			{"sandboxUserId", []invalidValues{notText, control, unlikeUUID, missing, blankText}, []any{strings.ToUpper(c.user(fresh()))}},
		}},
		{http.MethodPost, answered + "/decline", process("decline"), http.StatusNoContent, nothing, []field{
			{"reason", text(256), words(long(256)...)},
		}},
	}
}
