package pdflint_test

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
)

// fixture is a file, and how it is signed.
type fixture struct {
	name    string
	base    func(t *testing.T, s signer) []byte
	options pades.Options
}

// place is where the new field of the fixture is to be.
func (f fixture) place() pdflint.Place {
	if v := f.options.Visible; v != nil {
		return pdflint.Place{Page: v.Page, Rect: pdf.Rect(v.Rect)}
	}
	return pdflint.Place{Page: 1}
}

func built(name string, o pdftest.Options, options pades.Options) fixture {
	return fixture{name, func(*testing.T, signer) []byte { return pdftest.Build(o) }, options}
}

func shaped(name string, s shape) fixture {
	return fixture{name, func(*testing.T, signer) []byte { return s.build() }, pades.Options{Reason: "Undirritun"}}
}

// signed is the file of another fixture once that is signed.
func (f fixture) signed(name string, options pades.Options) fixture {
	return fixture{name, func(t *testing.T, s signer) []byte { return s.sign(t, f.base(t, s), f.options) }, options}
}

// encrypted is the file of another fixture as qpdf encrypts it, without a password.
func (f fixture) encrypted(name string, arguments ...string) fixture {
	return fixture{name, func(t *testing.T, s signer) []byte {
		qpdf := testenv.Program(t, "qpdf")
		folder := t.TempDir()
		plain, encrypted := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "encrypted.pdf")
		if err := os.WriteFile(plain, f.base(t, s), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments := slices.Concat([]string{"--allow-weak-crypto", "--encrypt", "", "owner"}, arguments, []string{"--", plain, encrypted})
		if text, err := exec.Command(qpdf, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("qpdf: %v: %s", err, text)
		}
		b, err := os.ReadFile(encrypted)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}, f.options}
}

var (
	objects = shaped("table", shape{})
	inline  = shaped("direct", shape{direct: true})
	stream  = shaped("stream", shape{kind: pdftest.Stream})
	noEnd   = fixture{"no line end", func(*testing.T, signer) []byte { return bytes.TrimRight(shape{}.build(), "\n") }, pades.Options{}}

	// aField has the empty field Buyer with a widget below it, whose appearance has states.
	aField = built("field", pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: "/Annots [101 0 R]",
		Objects: []string{
			"<< /FT /Sig /T (Buyer) /Kids [101 0 R] >>",
			"<< /Parent 100 0 R /Subtype /Widget /Rect [0 0 50 50] " + slack + "/AP << /N << /On 102 0 R >> /D 102 0 R >> >>",
			"<< /Subtype /Form /BBox [0 0 1 1] /Length 0 >>\nstream\n\nendstream",
		},
	}, pades.Options{Field: "Buyer"})

	// twoParts has a page that is the form as well.
	twoParts = built("page and form", pdftest.Options{Catalog: "/AcroForm 10 0 R", Page: "/Rotate 90"}, pades.Options{})

	certified = fixture{"certified", objects.base, pades.Options{Certify: pades.FormFilling}}

	afterCertified = certified.signed("after a certification", pades.Options{})
	// afterApproval has room for the mark of a certification in the reason.
	afterApproval = inline.signed("after an approval", pades.Options{Reason: strings.Repeat("r", 120)})

	// afterLock has a signature that locks one field, which is not there.
	locked = built("lock", pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Objects: []string{"<< /FT /Sig /T (First) /Lock << /Action /Include /Fields [(Signatures)] /P 2 >> >>"},
	}, pades.Options{Field: "First"})
	afterLock = locked.signed("after a lock", pades.Options{})

	tagged   = archival("ua1")
	artifact = archival("ua2")
	// afterTagged has a structure that may change no more.
	afterTagged = tagged.signed("after tagged", pades.Options{})

	// Signatures that are shown in new fields.
	onSecond = built("shown on page 2", pdftest.Options{Pages: 2}, shown(2))
	onTurned = built("shown on a page that is turned", pdftest.Options{Page: "/Rotate 90"}, shown(1))
	// onShared has a page whose annotations are another page's too.
	onShared      = fixture{"shown on one of two pages", func(*testing.T, signer) []byte { return twoPagesOfOneArray() }, shown(2)}
	shownArtifact = fixture{"shown in ua2", artifact.base, shown(1)}

	aes     = objects.encrypted("AES-256", "256")
	rc4File = aField.visible().encrypted("RC4", "40")
	noID    = fixture{"no ID", func(*testing.T, signer) []byte { return withoutID() }, pades.Options{}}
)

// twoPagesOfOneArray has pages with the same annotations and without content.
func twoPagesOfOneArray() []byte {
	b := pdftest.Build(pdftest.Options{Pages: 2, Objects: []string{
		"[101 0 R]", "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (Note) >>",
	}})
	return bytes.ReplaceAll(b, []byte("/Contents 3 0 R"), []byte("/Annots 100 0 R"))
}

func archival(profile string) fixture {
	return fixture{profile, func(*testing.T, signer) []byte { return pdftest.Archival(pdftest.Archive{Profile: profile}) }, pades.Options{}}
}

// shown are options for a new field that a page is drawn in.
func shown(page int) pades.Options {
	return pades.Options{Visible: &pades.Visible{
		Page: page, Rect: pades.Rect{LLX: 100, LLY: 700, URX: 217, URY: 755}, Appearance: pdftest.Build(pdftest.Options{}),
	}}
}

// visible draws a page in the field.
func (f fixture) visible() fixture {
	f.options.Appearance = pdftest.Build(pdftest.Options{})
	return f
}

// withoutID is encrypted with RC4 of 40 bits for an empty password, by a key that was made
// without an ID (7.6.4.3.2, 7.6.4.4.2). Of its strings nothing can be read.
func withoutID() []byte {
	const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa\x01\x08" +
		"\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"
	owner, permissions := strings.Repeat("o", 32), int32(-4)
	sum := md5.Sum(binary.LittleEndian.AppendUint32([]byte(padding+owner), uint32(permissions)))
	user := make([]byte, len(padding))
	c, err := rc4.NewCipher(sum[:5])
	if err != nil {
		panic(err)
	}
	c.XORKeyStream(user, []byte(padding))
	return pdftest.Build(pdftest.Options{
		Objects: []string{fmt.Sprintf("<< /Filter /Standard /V 1 /R 2 /P %d /O (%s) /U <%x> >>", permissions, owner, user)},
		Trailer: "/Encrypt 100 0 R",
	})
}
