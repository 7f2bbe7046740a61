package webhook_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/innsigli/innsigli/webhook"
)

// standard is a key as Standard Webhooks has it.
func standard(prefix string, key []byte) string {
	return prefix + base64.StdEncoding.EncodeToString(key)
}

func TestRefusedKeys(t *testing.T) {
	t.Parallel()
	const (
		noForm    = "It is neither 64 hexadecimal characters, nor whsec_ and Base64, an ssh-ed25519 line, or whpk_ and Base64."
		which     = "The scheme of Base64 without a prefix is unknown: put whsec_ before a secret, or whpk_ before a public key."
		notSecret = "What follows whsec_ is not Base64 with its padding."
		notPublic = "What follows whpk_ is not Base64 with its padding."
		notSSH    = "What follows ssh-ed25519 is not the Base64 of an Ed25519 key (RFC 8709)."
		otherSSH  = "It is an SSH key of another type than ssh-ed25519, or has options before it."
	)
	blob := strings.Fields(openSSHPublic)[1]
	longer := make([]byte, 65)
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                     {"", "It is empty."},
		"white space":                 {" \r\n\t", "It is empty."},
		"a word":                      {"secret", noForm},
		"hex with a prefix":           {"0x" + hexSecret, noForm},
		"hex, one short":              {hexSecret[1:], "A secret has 64 hexadecimal characters, and this one has 63."},
		"hex, two short":              {hexSecret[2:], "A secret has 64 hexadecimal characters, and this one has 62."},
		"hex, too long":               {hexSecret + hexSecret, "A secret has 64 hexadecimal characters, and this one has 128."},
		"bare Base64 of a secret":     {strings.TrimPrefix(hexAsStandard, "whsec_"), which},
		"bare Base64 of a public key": {strings.TrimPrefix(standardPublic, "whpk_"), which},
		"bare blob of OpenSSH":        {blob, which},
		"whsec_ and hex":              {"whsec_" + hexSecret, "whsec_ is for Base64, and these are the 64 hexadecimal characters of a secret: remove whsec_."},
		"whsec_ without padding":      {strings.TrimRight(hexAsStandard, "="), notSecret},
		"whsec_ of the URL alphabet":  {"whsec_" + strings.Repeat("-_", 16), notSecret},
		"whsec_ with a bit too many":  {strings.Replace(hexAsStandard, "h8=", "h9=", 1), notSecret},
		"whsec_ with a line end":      {"whsec_AAEC\nAwQF", "It has several lines. Give one key."},
		"whsec_ of 23 bytes":          {standard("whsec_", make([]byte, 23)), "A secret has 24 to 64 bytes, and this one has 23."},
		"whsec_ of 65 bytes":          {standard("whsec_", longer), "A secret has 24 to 64 bytes, and this one has 65."},
		"whsec_ alone":                {"whsec_", "A secret has 24 to 64 bytes, and this one has 0."},
		"whpk_ of 31 bytes":           {standard("whpk_", make([]byte, 31)), "A public key has 32 bytes, and this one has 31."},
		"whpk_ of a private key":      {"whpk_" + privateKey, "A public key has 32 bytes, and this one has 64."},
		"whpk_ without padding":       {strings.TrimRight(standardPublic, "="), notPublic},
		"whpk_ of zeros":              {standard("whpk_", make([]byte, 32)), "It is a public key of small order, for which anyone can forge signatures."},
		"whsk_":                       {"whsk_" + privateKey, "It is a private key (whsk_), which only the sender has. Receivers have whpk_ or an ssh-ed25519 line."},
		"in upper case":               {"WHSEC_" + hexSecret, noForm},
		"several lines":               {openSSHPublic + "\n" + openSSHPublic, "It has several lines. Give one key."},
		"OpenSSH, cut short":          {openSSHPublic[:len(openSSHPublic)-4], notSSH},
		"OpenSSH, with more":          {"ssh-ed25519 " + base64.StdEncoding.EncodeToString(append(mustBase64(t, blob), 0)), notSSH},
		"OpenSSH, of another type":    {"ssh-ed25519 " + strings.Fields(ecdsaLine(t))[1], notSSH},
		"OpenSSH, zeros":              {sshLine(t, make([]byte, 32)), "It is a public key of small order, for which anyone can forge signatures."},
		"OpenSSH, the type alone":     {"ssh-ed25519", otherSSH},
		"OpenSSH, RSA":                {"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ==", otherSSH},
		"OpenSSH, ECDSA":              {ecdsaLine(t), otherSSH},
		"OpenSSH, on a token":         {"sk-ssh-ed25519@openssh.com AAAA", otherSSH},
		"OpenSSH, with options":       {`no-pty ` + openSSHPublic, otherSSH},
		"PEM":                         {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("key")})), "It is PEM. Give a public key in OpenSSH's format, a line that begins with ssh-ed25519."},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := webhook.ParseKey(test.text)
			var refused *webhook.KeyError
			if !errors.As(err, &refused) {
				t.Fatalf("%v, %v", key, err)
			}
			if diff := cmp.Diff(&webhook.KeyError{Message: test.want}, refused); diff != "" || key.Scheme() != "" {
				t.Errorf("%v %s", key, diff)
			}
		})
	}
}

func TestSeveralKeys(t *testing.T) {
	t.Parallel()
	other, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := "# keys of sign.example\n\n" + sshLine(t, other) + " the new one\r\n  " + openSSHPublic + "\n" + hexSecret
	keys, err := webhook.ParseKeys(text)
	if err != nil || len(keys) != 3 {
		t.Fatal(keys, err)
	}
	for _, signature := range []string{officialV1a, hexV1} {
		if err := webhook.VerifyAt(vectorTime, vectorHeaders(signature), []byte(vectorBody), keys...); err != nil {
			t.Error(err)
		}
	}
	for name, test := range map[string]struct {
		text string
		want *webhook.KeyError
	}{
		"none":          {"# nothing\n\n", &webhook.KeyError{Message: "The text has no key."}},
		"one is wrong":  {openSSHPublic + "\n\nwhsk_AAAA\n", &webhook.KeyError{Line: 3, Message: "It is a private key (whsk_), which only the sender has. Receivers have whpk_ or an ssh-ed25519 line."}},
		"far too many":  {strings.Repeat(openSSHPublic+"\n", 101), &webhook.KeyError{Line: 101, Message: "There are more than 100 keys."}},
		"a private key": {"-----BEGIN OPENSSH PRIVATE KEY-----\n", &webhook.KeyError{Line: 1, Message: "It is PEM. Give a public key in OpenSSH's format, a line that begins with ssh-ed25519."}},
	} {
		t.Run(name, func(t *testing.T) {
			keys, err := webhook.ParseKeys(test.text)
			var refused *webhook.KeyError
			if !errors.As(err, &refused) || keys != nil {
				t.Fatal(keys, err)
			}
			if diff := cmp.Diff(test.want, refused); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever is parsed: there is no panic, and a text that is taken is that key for others too.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{hexSecret, hexAsStandard, standardPublic, openSSHPublic + " comment", strings.Replace(openSSHPublic, " ", "\v ", 1), "whsk_" + privateKey, "ssh-rsa AAAA", privateKey} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := webhook.ParseKey(text)
		if refused := new(webhook.KeyError); err != nil {
			if !errors.As(err, &refused) || key.Scheme() != "" {
				t.Errorf("%v, %v", key, err)
			}
			return
		}
		text = strings.TrimSpace(text)
		switch key.Scheme() {
		case webhook.V1:
			secret, err := hex.DecodeString(text)
			if standard, ok := strings.CutPrefix(text, "whsec_"); ok {
				secret, err = base64.StdEncoding.Strict().DecodeString(standard)
			}
			signature := webhook.SignV1(secret, vectorID, vectorTime, nil)
			if err := errors.Join(err, webhook.VerifyAt(vectorTime, vectorHeaders(signature), nil, key)); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		case webhook.V1a:
			if standard, ok := strings.CutPrefix(text, "whpk_"); ok {
				text = sshLine(t, mustBase64(t, standard))
			}
			if public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err != nil || public.Type() != ssh.KeyAlgoED25519 {
				t.Errorf("%q: %v", text, err)
			}
		default:
			t.Errorf("%q gives no key and no error", text)
		}
	})
}

// sshLine is a public key as the SSH library writes it.
func sshLine(t *testing.T, public ed25519.PublicKey) string {
	t.Helper()
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func ecdsaLine(t *testing.T) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func mustBase64(t *testing.T, text string) []byte {
	t.Helper()
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}
