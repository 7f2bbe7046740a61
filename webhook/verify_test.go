package webhook_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/webhook"
)

func TestVerifyHeaders(t *testing.T) {
	t.Parallel()
	now, body := vectorTime, []byte(vectorBody)
	secret := mustHex(t, hexSecret)
	sign := func(id string, at time.Time) http.Header {
		return headers(id, at, webhook.SignV1(secret, id, at, body))
	}
	with := func(name string, values ...string) http.Header {
		h := sign(vectorID, now)
		h[name] = values
		return h
	}
	for name, test := range map[string]struct {
		header http.Header
		want   error
	}{
		"valid":                     {sign(vectorID, now), nil},
		"the shortest ID":           {sign("a", now), nil},
		"the longest ID":            {sign(strings.Repeat("a", 256), now), nil},
		"no header at all":          {nil, webhook.ErrMissingHeader},
		"no ID":                     {with(webhook.HeaderID), webhook.ErrMissingHeader},
		"an empty ID":               {sign("", now), webhook.ErrMissingHeader},
		"two IDs":                   {with(webhook.HeaderID, vectorID, vectorID), webhook.ErrRepeatedHeader},
		"an ID with a full stop":    {sign("a.1614265330", now), webhook.ErrID},
		"an ID with a line end":     {sign("a\n", now), webhook.ErrID},
		"an ID with a zero byte":    {sign("\x00", now), webhook.ErrID},
		"an ID with white space":    {sign("a b", now), webhook.ErrID},
		"an ID with DEL":            {sign("a\x7f", now), webhook.ErrID},
		"an ID beyond ASCII":        {sign("auðkenni", now), webhook.ErrID},
		"an ID that is too long":    {sign(strings.Repeat("a", 257), now), webhook.ErrID},
		"no timestamp":              {with(webhook.HeaderTimestamp), webhook.ErrMissingHeader},
		"two timestamps":            {with(webhook.HeaderTimestamp, "1614265330", "1614265330"), webhook.ErrRepeatedHeader},
		"a timestamp with a sign":   {with(webhook.HeaderTimestamp, "+1614265330"), webhook.ErrTimestamp},
		"a negative one":            {with(webhook.HeaderTimestamp, "-1614265330"), webhook.ErrTimestamp},
		"one with a leading zero":   {with(webhook.HeaderTimestamp, "01614265330"), webhook.ErrTimestamp},
		"one with a fraction":       {with(webhook.HeaderTimestamp, "1614265330.0"), webhook.ErrTimestamp},
		"one with an exponent":      {with(webhook.HeaderTimestamp, "1e9"), webhook.ErrTimestamp},
		"one with white space":      {with(webhook.HeaderTimestamp, " 1614265330"), webhook.ErrTimestamp},
		"one with underscores":      {with(webhook.HeaderTimestamp, "1_614_265_330"), webhook.ErrTimestamp},
		"one in hexadecimal":        {with(webhook.HeaderTimestamp, "0x6037bd32"), webhook.ErrTimestamp},
		"one of other digits":       {with(webhook.HeaderTimestamp, "١٦١٤٢٦٥٣٣٠"), webhook.ErrTimestamp},
		"one in milliseconds":       {with(webhook.HeaderTimestamp, "1614265330000"), webhook.ErrTimestamp},
		"the end of the year 9999":  {with(webhook.HeaderTimestamp, "253402300799"), webhook.ErrTooNew},
		"a second more than that":   {with(webhook.HeaderTimestamp, "253402300800"), webhook.ErrTimestamp},
		"the largest of 64 bits":    {with(webhook.HeaderTimestamp, "9223372036854775807"), webhook.ErrTimestamp},
		"one larger than that":      {with(webhook.HeaderTimestamp, "9223372036854775808"), webhook.ErrTimestamp},
		"zero":                      {with(webhook.HeaderTimestamp, "0"), webhook.ErrTooOld},
		"five minutes ago":          {sign(vectorID, now.Add(-5*time.Minute)), nil},
		"a second more":             {sign(vectorID, now.Add(-5*time.Minute-time.Second)), webhook.ErrTooOld},
		"in five minutes":           {sign(vectorID, now.Add(5*time.Minute)), nil},
		"in a second more":          {sign(vectorID, now.Add(5*time.Minute+time.Second)), webhook.ErrTooNew},
		"no signature":              {with(webhook.HeaderSignature), webhook.ErrMissingHeader},
		"two headers of signatures": {with(webhook.HeaderSignature, hexV1, hexV1), webhook.ErrRepeatedHeader},
		"a second earlier":          {with(webhook.HeaderTimestamp, fmt.Sprint(now.Unix()-1)), webhook.ErrSignature},
		"another ID":                {with(webhook.HeaderID, "msg_other"), webhook.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			if err := webhook.VerifyAt(now, test.header, body, webhook.Secret(secret)); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

func TestSignatureLists(t *testing.T) {
	t.Parallel()
	body := []byte(vectorBody)
	wrong := webhook.SignV1(make([]byte, 32), vectorID, vectorTime, body)
	for name, test := range map[string]struct {
		list string
		want error
	}{
		"first of several":         {hexV1 + " " + wrong, nil},
		"last of several":          {wrong + " " + officialV1a + " " + hexV1, nil},
		"the sixteenth":            {strings.Repeat(wrong+" ", 15) + hexV1, nil},
		"the seventeenth":          {strings.Repeat(wrong+" ", 16) + hexV1, webhook.ErrTooManySignatures},
		"behind schemes of later":  {"v2,AAAA v1b,? v1,v1, " + hexV1, nil},
		"behind malformed items":   {", v1 v1a, =, , " + hexV1, nil},
		"two spaces between":       {wrong + "  " + hexV1, nil},
		"wrong ones alone":         {wrong + " " + wrong, webhook.ErrSignature},
		"commas between":           {wrong + "," + hexV1, webhook.ErrSignature},
		"a tab between":            {wrong + "\t" + hexV1, webhook.ErrSignature},
		"the scheme in upper case": {"V1" + hexV1[2:], webhook.ErrSignature},
		"another scheme's name":    {"v1a" + hexV1[2:], webhook.ErrSignature},
		"an unknown scheme's name": {"v2" + hexV1[2:], webhook.ErrSignature},
		"no scheme":                {hexV1[3:], webhook.ErrSignature},
		"without padding":          {strings.TrimRight(hexV1, "="), webhook.ErrSignature},
		"of the URL alphabet":      {strings.NewReplacer("+", "-", "/", "_").Replace(hexV1), webhook.ErrSignature},
		"with a bit too many":      {strings.Replace(hexV1, "tI=", "tJ=", 1), webhook.ErrSignature},
		"with a line end":          {strings.Replace(hexV1, "=", "=\n", 1), webhook.ErrSignature},
		"with a line end inside":   {strings.Replace(hexV1, "tI=", "t\r\nI=", 1), webhook.ErrSignature},
		"in hexadecimal":           {"v1," + fmt.Sprintf("%x", mustBase64(t, hexV1[3:])), webhook.ErrSignature},
		"cut short":                {"v1," + standard("", mustBase64(t, hexV1[3:])[:31]), webhook.ErrSignature},
		"empty":                    {"v1,", webhook.ErrSignature},
	} {
		t.Run(name, func(t *testing.T) {
			if err := webhook.VerifyAt(vectorTime, vectorHeaders(test.list), body, mustParse(t, hexSecret)); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// One of several keys has to verify.
func TestAnyKeyVerifies(t *testing.T) {
	t.Parallel()
	var public, none webhook.Key = mustParse(t, standardPublic), webhook.Key{}
	secret, other := mustParse(t, hexSecret), webhook.Secret(make([]byte, 32))
	for _, keys := range [][]webhook.Key{{secret}, {other, secret}, {none, public, secret}, {public}, {other, public}} {
		if err := webhook.VerifyAt(vectorTime, vectorHeaders(hexV1, officialV1a), []byte(vectorBody), keys...); err != nil {
			t.Errorf("%v: %v", keys, err)
		}
	}
	for _, keys := range [][]webhook.Key{nil, {none}} {
		if err := webhook.VerifyAt(vectorTime, vectorHeaders(hexV1), []byte(vectorBody), keys...); !errors.Is(err, webhook.ErrNoKeys) {
			t.Errorf("%v: %v", keys, err)
		}
	}
}

// An ID with a full stop is refused, since another request could have the same content and therefore the same
// signature.
func TestContentIsUnambiguous(t *testing.T) {
	t.Parallel()
	secret := mustHex(t, hexSecret)
	signature := webhook.SignV1(secret, "a", vectorTime, []byte("1614265331.{}"))
	key := webhook.Secret(secret)
	if err := webhook.VerifyAt(vectorTime, headers("a", vectorTime, signature), []byte("1614265331.{}"), key); err != nil {
		t.Error(err)
	}
	other := headers("a.1614265330", time.Unix(1614265331, 0), signature)
	if err := webhook.VerifyAt(vectorTime, other, []byte("{}"), key); !errors.Is(err, webhook.ErrID) {
		t.Error(err)
	}
}

// A signed request verifies, and does not after a change of any byte.
func TestChangedBytes(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, body := []byte(rand.Text()), []byte(`{"type":"a","n":`+rand.Text()+`}`)
	for _, test := range []struct {
		key       webhook.Key
		signature string
	}{
		{webhook.Secret(secret), webhook.SignV1(secret, "id", vectorTime, body)},
		{webhook.PublicKey(public), webhook.SignV1a(private, "id", vectorTime, body)},
	} {
		verify := func(signature, id string, body []byte) error {
			return webhook.VerifyAt(vectorTime, headers(id, vectorTime, signature), body, test.key)
		}
		if err := verify(test.signature, "id", body); err != nil {
			t.Errorf("%v: %v", test.key, err)
		}
		for i := range body {
			changed := []byte(string(body))
			changed[i] ^= 1 << (i % 8)
			if err := verify(test.signature, "id", changed); !errors.Is(err, webhook.ErrSignature) {
				t.Errorf("%v: byte %d of the body: %v", test.key, i, err)
			}
		}
		for i := range test.signature {
			changed := []byte(test.signature)
			changed[i] ^= 1
			if err := verify(string(changed), "id", body); !errors.Is(err, webhook.ErrSignature) {
				t.Errorf("%v: byte %d of the signature: %v", test.key, i, err)
			}
		}
		for _, other := range [][]byte{nil, body[:len(body)-1], append([]byte(string(body)), '\n')} {
			if err := verify(test.signature, "id", other); !errors.Is(err, webhook.ErrSignature) {
				t.Errorf("%v: body %q: %v", test.key, other, err)
			}
		}
		if err := verify(test.signature, "ie", body); !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("%v: another ID: %v", test.key, err)
		}
	}
}

// Verify uses the current time.
func TestVerifyAtTheCurrentTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		secret := mustHex(t, hexSecret)
		now := time.Now()
		h := headers("id", now, webhook.SignV1(secret, "id", now, nil))
		for _, test := range []struct {
			after time.Duration
			want  error
		}{{0, nil}, {5 * time.Minute, nil}, {time.Second, webhook.ErrTooOld}} {
			time.Sleep(test.after)
			if err := webhook.Verify(h, nil, webhook.Secret(secret)); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		}
	})
}

// VerifyAt does not panic, and accepts the same requests as a second implementation of the rules of spec 5.5.
func FuzzVerify(f *testing.F) {
	for _, s := range []struct{ id, at, signatures, body string }{
		{vectorID, "1614265330", hexV1 + " " + officialV1a, vectorBody},
		{vectorID, "1614265330", "v2, " + hexV1, vectorBody},
		{"a.b", "1614265330", hexV1, vectorBody},
		{"a", "01614265330", "v1,", ""},
		{"a", "9223372036854775807", " , ,", "{}"},
	} {
		f.Add(s.id, s.at, s.signatures, []byte(s.body))
	}
	secret, private := mustHex(f, hexSecret), vectorKey(f)
	keys := []webhook.Key{webhook.Secret(secret), webhook.PublicKey(private.Public().(ed25519.PublicKey))}
	f.Fuzz(func(t *testing.T, id, at, signatures string, body []byte) {
		agree := func(list string) {
			h := http.Header{webhook.HeaderID: {id}, webhook.HeaderTimestamp: {at}, webhook.HeaderSignature: {list}}
			accepted := webhook.VerifyAt(vectorTime, h, body, keys...) == nil
			if want := wellFormed(id, at) && signedBy(secret, private, id+"."+at+"."+string(body), list); accepted != want {
				t.Errorf("%q %q %q %q: accepted is %t", id, at, list, body, accepted)
			}
		}
		agree(signatures)
		if seconds, err := strconv.ParseInt(at, 10, 64); err == nil && seconds == vectorTime.Unix() {
			agree(signatures + " " + webhook.SignV1(secret, id, vectorTime, body))
			agree(webhook.SignV1a(private, id, vectorTime, body) + " " + signatures)
		}
	})
}

// wellFormed reports whether an ID and a time are valid.
func wellFormed(id, at string) bool {
	visible := strings.IndexFunc(id, func(r rune) bool { return r < '!' || r > '~' }) < 0
	seconds, err := strconv.Atoi(at)
	return visible && id != "" && len(id) <= 256 && !strings.Contains(id, ".") &&
		err == nil && strconv.Itoa(seconds) == at && max(seconds-1614265330, 1614265330-seconds) <= 300
}

// signedBy reports whether the list contains a signature of one of the keys.
func signedBy(secret []byte, private ed25519.PrivateKey, content, list string) bool {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(content))
	v1 := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	v1a := "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(content)))
	if strings.Count(list, " ") > 15 {
		return false
	}
	for _, item := range strings.Split(list, " ") {
		if item == v1 || item == v1a {
			return true
		}
	}
	return false
}
