package mail

import (
	"slices"
	"strings"

	"github.com/wneessen/go-mail/smtp"
)

// authenticate proves who we are (RFC 4954), if there is a user.
func (c *conversation) authenticate() error {
	if c.options.User == "" {
		return nil
	}
	if _, secure := c.TLSConnectionState(); !secure && c.options.TLS == StartTLS {
		return protocol("the connection is not protected")
	}
	_, says := c.Extension("AUTH")
	offered := strings.Fields(strings.ToUpper(says))
	mechanism, err := c.mechanism(offered)
	if err != nil {
		return err
	}
	c.SetLogger(c.ofCodes())
	defer c.SetLogger(c.dialogue)
	return c.Auth(c.proof(mechanism))
}

// mechanism is the one that the options say, or the best that is offered: those that do not tell the
// password first, but for CRAM-MD5, which needs a server that keeps passwords as they are.
func (c *conversation) mechanism(offered []string) (Authentication, error) {
	wanted := []Authentication{c.options.Authentication}
	if c.options.Authentication == Auto {
		wanted = []Authentication{ScramSHA256, ScramSHA1, Plain, Login, CramMD5}
	}
	for _, one := range wanted {
		if slices.Contains(offered, strings.ToUpper(string(one))) {
			return one, nil
		}
	}
	return "", protocol("the server does not offer %s", listed(wanted))
}

// proof answers what the server asks. Whether the connection is protected was judged before.
func (c *conversation) proof(by Authentication) smtp.Auth {
	user, password := c.options.User, c.options.Password
	switch by {
	case ScramSHA256:
		return smtp.ScramSHA256Auth(user, password)
	case ScramSHA1:
		return smtp.ScramSHA1Auth(user, password)
	case CramMD5:
		return smtp.CRAMMD5Auth(user, password)
	case Login:
		return smtp.LoginAuth(user, password, c.host, true)
	}
	return smtp.PlainAuth("", user, password, c.host, true)
}
