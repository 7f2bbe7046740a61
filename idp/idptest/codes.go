package idptest

// checkCode holds a verification code to its rules. The person compares what the phone shows
// with what the client shows, which is the first code that it hears, to the end (spec
// 3.5).
func (c *conversation) checkCode(of call, code string) {
	c.t.Helper()
	if code == "" && c.code == "" {
		return
	}
	if !fourDigits(code) {
		c.t.Errorf("a code is 4 digits (spec 3.5), but %s shows %q", of.name, code)
	}
	if c.code != "" && code != c.code {
		c.t.Errorf("a code stays once it was shown, but %s shows %q after %q", of.name, code, c.code)
	}
	c.code, c.codeAtStart = code, c.codeAtStart || c.start
	if c.backend.Code == nil || c.signs == nil {
		return
	}
	if want := c.backend.Code(c.person.Method, c.signs); want != "" && code != want {
		c.t.Errorf("the code of the digests is %q, but %s shows %q", want, of.name, code)
	}
}

func fourDigits(code string) bool {
	if len(code) != 4 {
		return false
	}
	for _, digit := range []byte(code) {
		if digit < '0' || digit > '9' {
			return false
		}
	}
	return true
}
