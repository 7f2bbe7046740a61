package httpapi_test

import "testing"

// spec 3.4: each level is what the signature has, and Lt when none is said. The
// sandbox has all that they need (spec 6.3).
func TestSignatureLevels(t *testing.T) {
	t.Parallel()
	const level = "advancedSignatureSettings.signatureLevel"
	c := start(t, wiring{}).signer(t)
	c.user(person)
	for name, test := range map[string]struct {
		sent fields
		want string
	}{
		"B":       {fields{level: "B"}, "PAdES-BASELINE-B"},
		"T":       {fields{level: "T"}, "PAdES-BASELINE-T"},
		"Lt":      {fields{level: "Lt"}, "PAdES-BASELINE-LT"},
		"Lta":     {fields{level: "Lta"}, "PAdES-BASELINE-LTA"},
		"null":    {fields{level: nil}, "PAdES-BASELINE-LT"},
		"nothing": {fields{level: absent{}}, "PAdES-BASELINE-LT"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			for _, method := range methods {
				body := startBody(method).with(test.sent)
				if got := c.signature(c.sign(body)).Format; got != test.want {
					t.Errorf("%s: format %s, want %s", method, got, test.want)
				}
			}
		})
	}
}
