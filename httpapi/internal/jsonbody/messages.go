package jsonbody

const (
	msgRequired = "This field is required."
	msgBase64   = "Must be Base64 (RFC 4648 section 4) with padding and without line breaks, and not empty."
)

// mustBe says which type a value has to have.
func mustBe(k kind) string {
	switch k {
	case boolean:
		return "Must be true or false."
	case number:
		return "Must be a number."
	case array:
		return "Must be an array."
	case object:
		return "Must be an object."
	}
	return "Must be a string."
}
