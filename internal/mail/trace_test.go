package mail

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTrace checks that commands and replies are traced line by line, without the message and without control sequences
// of terminals.
func TestTrace(t *testing.T) {
	script := scripted(t, func(_ int, line string) string {
		if line == "" {
			return "220-mail.example.is\r\n220 \x1b[2Jhello\x07 \xff"
		}
		return ""
	})
	var lines []string
	o := Options{Trace: func(line string) { lines = append(lines, line) }}
	if err := transport(t, script.address, o).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimSuffix(strings.TrimPrefix(script.address, "smtp://"), "?tls=none")
	if i := len(lines) - 4; i > 0 && strings.HasPrefix(lines[i], "C: (the message, ") {
		lines[i] = "C: (the message)"
	}
	if diff := cmp.Diff([]string{
		"connecting to " + host,
		"S: 220-mail.example.is", "S: 220 ?[2Jhello? ?",
		"C: EHLO example.is", "S: 250-mail.example.is", "S: 250 8BITMIME",
		"C: MAIL FROM:<bounces@example.is> BODY=8BITMIME", "S: 250 ok",
		"C: RCPT TO:<one@example.is>", "S: 250 ok", "C: RCPT TO:<two@example.is>", "S: 250 ok",
		"C: DATA", "S: 354 go on", "C: (the message)", "S: 250 2.0.0 queued as 4711",
		"C: QUIT", "S: 221 bye",
	}, lines); diff != "" {
		t.Error(diff)
	}
}

// TestTraceWithoutSecrets checks that no mechanism's secrets are traced.
func TestTraceWithoutSecrets(t *testing.T) {
	for _, by := range Authentications[1 : len(Authentications)-1] {
		b, config := new(inbox).all(), certificate(t)
		var lines strings.Builder
		o := Options{Authentication: by, Roots: trusting(t, config), Trace: func(line string) { lines.WriteString(line + "\n") }}
		if err := transport(t, "smtp://mailer:secret@"+serve(t, b, config, false), o).Send(t.Context(), message); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"C: STARTTLS\n", "TLS 1.3, TLS_", "; a certificate of mail until ", "C: (secret)\n", "S: 235 "} {
			if !strings.Contains(lines.String(), want) {
				t.Errorf("%s: no %q in\n%s", by, want, &lines)
			}
		}
		for _, not := range []string{"mailer", ":secret", "c2VjcmV0", "bWFpbGVy", message.Text, message.Subject} {
			if strings.Contains(lines.String(), not) {
				t.Errorf("%s: %q in\n%s", by, not, &lines)
			}
		}
	}
}

// TestTraceOfRepeatedPassword checks that a password is not traced if the server repeats it in any form.
func TestTraceOfRepeatedPassword(t *testing.T) {
	const password = "a secret of mine"
	for _, by := range []Authentication{Plain, Login} {
		for name, answer := range map[string]string{
			"refused":      "535 5.7.8 not right: ",
			"on two lines": "535-5.7.8 not right\r\n535 5.7.8 ",
			"accepted":     "235 ",
		} {
			t.Run(string(by)+" "+name, func(t *testing.T) {
				asked := 0
				script := scripted(t, func(_ int, line string) string {
					said, _ := strings.CutPrefix(line, "AUTH PLAIN ")
					switch {
					case strings.HasPrefix(line, "EHLO"):
						return "250-mail.example.is\r\n250 AUTH PLAIN LOGIN"
					case line == "AUTH LOGIN":
						asked = 1
						return "334 " + base64.StdEncoding.EncodeToString([]byte("Username:"))
					case asked == 1:
						asked = 2
						return "334 " + base64.StdEncoding.EncodeToString([]byte("Password:"))
					case asked == 2, strings.HasPrefix(line, "AUTH PLAIN "):
						asked = 0
						return answer + said
					}
					return ""
				})
				var lines strings.Builder
				o := Options{Authentication: by, Trace: func(line string) { lines.WriteString(line + "\n") }}
				address := strings.Replace(script.address, "smtp://", "smtp://mailer:"+url.PathEscape(password)+"@", 1)
				err := transport(t, address, o).Send(t.Context(), message)
				if (err == nil) != (name == "accepted") {
					t.Error(err)
				}
				all := lines.String()
				for _, word := range strings.FieldsFunc(all, func(r rune) bool { return r == ' ' || r == '\n' || r == '=' }) {
					if said, _ := base64.RawStdEncoding.DecodeString(word); strings.Contains(string(said), password) {
						t.Errorf("%q is lines", said)
					}
				}
				if want := answer[:3]; !strings.Contains(all, "\nS: "+want) {
					t.Errorf("no %s in\n%s", want, all)
				}
				if strings.Contains(answer, "5.7.8") && !strings.Contains(all, "\nS: 535 5.7.8\n") {
					t.Errorf("no code in\n%s", all)
				}
			})
		}
	}
}
