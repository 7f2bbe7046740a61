package webhook_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/innsigli/innsigli/webhook"
)

// standard returns a key in the format of Standard Webhooks.
func standard(prefix string, key []byte) string {
	return prefix + base64.StdEncoding.EncodeToString(key)
}

func TestParseKeyErrors(t *testing.T) {
	t.Parallel()
	const (
		noForm    = "It must be 64 hexadecimal characters, whsec_ and Base64, an ssh-ed25519 line, or whpk_ and Base64."
		which     = "Base64 without a prefix is ambiguous: put whsec_ before a secret, or whpk_ before a public key."
		notSecret = "The text after whsec_ must be Base64 with padding."
		notPublic = "The text after whpk_ must be Base64 with padding."
		notSSH    = "The text after ssh-ed25519 must be the Base64 of an Ed25519 key (RFC 8709)."
		otherSSH  = "It is an SSH key of another type than ssh-ed25519, or has options before it."
	)
	blob := strings.Fields(openSSHPublic)[1]
	longer := make([]byte, 65)
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                     {"", "It is empty."},
		"white space":                 {" \r\n\t", "It is empty."},
		"a word":                      {"secret", noForm},
		"hex with a prefix":           {"0x" + hexSecret, noForm},
		"hex, one short":              {hexSecret[1:], "A secret must have 64 hexadecimal characters; this one has 63."},
		"hex, two short":              {hexSecret[2:], "A secret must have 64 hexadecimal characters; this one has 62."},
		"hex, too long":               {hexSecret + hexSecret, "A secret must have 64 hexadecimal characters; this one has 128."},
		"bare Base64 of a secret":     {strings.TrimPrefix(hexAsStandard, "whsec_"), which},
		"bare Base64 of a public key": {strings.TrimPrefix(standardPublic, "whpk_"), which},
		"bare blob of OpenSSH":        {blob, which},
		"whsec_ and hex":              {"whsec_" + hexSecret, "whsec_ is for Base64, but this secret has 64 hexadecimal characters: remove whsec_."},
		"whsec_ without padding":      {strings.TrimRight(hexAsStandard, "="), notSecret},
		"whsec_ of the URL alphabet":  {"whsec_" + strings.Repeat("-_", 16), notSecret},
		"whsec_ with a bit too many":  {strings.Replace(hexAsStandard, "h8=", "h9=", 1), notSecret},
		"whsec_ with a line end":      {"whsec_AAEC\nAwQF", "It has several lines. Give one key."},
		"whsec_ of 23 bytes":          {standard("whsec_", make([]byte, 23)), "A secret must have 24 to 64 bytes; this one has 23."},
		"whsec_ of 65 bytes":          {standard("whsec_", longer), "A secret must have 24 to 64 bytes; this one has 65."},
		"whsec_ alone":                {"whsec_", "A secret must have 24 to 64 bytes; this one has 0."},
		"whpk_ of 31 bytes":           {standard("whpk_", make([]byte, 31)), "A public key must have 32 bytes; this one has 31."},
		"whpk_ of a private key":      {"whpk_" + privateKey, "A public key must have 32 bytes; this one has 64."},
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

func TestParseKeys(t *testing.T) {
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

// ParseKey does not panic, and other parsers read the same key from a text that it accepts.
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

// sshLine returns a public key in the format of the SSH library.
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

// Printing a key never prints its secret.
func TestPrintedKeys(t *testing.T) {
	t.Parallel()
	secret := []byte("a secret of two-and-thirty bytes")
	key := webhook.Secret(secret)
	type owner struct {
		key  webhook.Key // fmt does not call methods of unexported fields
		Keys []webhook.Key
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", "key", key)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("key", "key", key)
	asJSON, err := json.Marshal(owner{key, []webhook.Key{key}})
	if err != nil {
		t.Fatal(err)
	}
	printed := []string{key.String(), log.String(), string(asJSON)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p"} {
		printed = append(printed, fmt.Sprintf(verb, key), fmt.Sprintf(verb, &key), fmt.Sprintf(verb, owner{key, []webhook.Key{key}}))
	}
	for _, text := range printed {
		for _, form := range []string{string(secret), hex.EncodeToString(secret), fmt.Sprint(secret[:4]), fmt.Sprintf("%#v", secret[:4])} {
			if strings.Contains(strings.ToLower(text), strings.Trim(form, "[]}")) {
				t.Errorf("%q contains the secret", text)
			}
		}
	}
	if got := fmt.Sprintf("%+v", key); got != "key of v1" {
		t.Errorf("%q", got)
	}
}

// An invalid key verifies nothing, not even its own signatures.
func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	body := []byte(vectorBody)
	for name, secret := range map[string][]byte{"none": nil, "short": make([]byte, 23), "long": make([]byte, 65)} {
		t.Run(name, func(t *testing.T) {
			h := vectorHeaders(webhook.SignV1(secret, vectorID, vectorTime, body))
			if err := webhook.VerifyAt(vectorTime, h, body, webhook.Secret(secret), webhook.Key{}); !errors.Is(err, webhook.ErrNoKeys) {
				t.Error(err)
			}
		})
	}
	for name, public := range map[string]ed25519.PublicKey{"none": nil, "short": make([]byte, 31), "long": make([]byte, 33)} {
		if key := webhook.PublicKey(public); key.Scheme() != "" || key.String() != "no key" {
			t.Errorf("%s: %v", name, key)
		}
	}
}

// Keys copy the bytes that they are created from.
func TestKeysCopyTheirBytes(t *testing.T) {
	t.Parallel()
	secret, public := mustHex(t, hexSecret), vectorKey(t).Public().(ed25519.PublicKey)
	keys := []webhook.Key{webhook.Secret(secret), webhook.PublicKey(public)}
	clear(secret)
	clear(public)
	for i, signature := range []string{hexV1, officialV1a} {
		if err := webhook.VerifyAt(vectorTime, vectorHeaders(signature), []byte(vectorBody), keys[i]); err != nil {
			t.Errorf("%v: %v", keys[i], err)
		}
	}
}

// Public keys of small order are refused, in all their encodings. For each of them a signature can be forged.
func TestPublicKeysOfSmallOrder(t *testing.T) {
	t.Parallel()
	for _, y := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	} {
		for _, sign := range []byte{0, 0x80} {
			public := ed25519.PublicKey(mustHex(t, y))
			public[31] |= sign
			t.Run(hex.EncodeToString(public), func(t *testing.T) {
				if !forgeable(public) {
					t.Error("no signature was found")
				}
				if key := webhook.PublicKey(public); key.Scheme() != "" {
					t.Error("PublicKey accepts it")
				}
				if _, err := webhook.ParseKey(standard("whpk_", public)); err == nil {
					t.Error("ParseKey accepts it")
				}
			})
		}
	}
	if forgeable(vectorKey(t).Public().(ed25519.PublicKey)) {
		t.Error("a signature was forged for another key")
	}
}

// forgeable reports whether the signature that consists of the neutral point and zero verifies for one of many
// messages, which it does if the challenge is a multiple of the key's order.
func forgeable(public ed25519.PublicKey) bool {
	signature := make([]byte, ed25519.SignatureSize)
	signature[0] = 1
	for i := range uint32(1000) {
		if ed25519.Verify(public, binary.BigEndian.AppendUint32(nil, i), signature) {
			return true
		}
	}
	return false
}
