package signing_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
	"github.com/innsigli/innsigli/storage"
)

// encrypted is a document that opens with a password.
func encrypted(t *testing.T, password string) []byte {
	t.Helper()
	folder := t.TempDir()
	plain, path := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "encrypted.pdf")
	if err := os.WriteFile(plain, pdftest.Build(pdftest.Options{}), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Program(t, "qpdf"), "--encrypt", password, "owner", "256", "--", plain, path).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v\n%s", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func (s service) uploaded(content []byte) (document string) {
	s.t.Helper()
	document, err := s.Upload(s.t.Context(), bytes.NewReader(content), 1<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	return document
}

// spec 4.1: the document is looked at first, then the page, then the room on it.
func TestRefusedPlans(t *testing.T) {
	t.Parallel()
	empty := pdftest.Build(pdftest.Options{})
	small := pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 300 140]"})
	for name, test := range map[string]struct {
		content  []byte
		page     int
		signers  int
		renderer stamp.Renderer
		want     error
	}{
		"no PDF":             {[]byte("This is no PDF."), 0, 1000, nil, ades.ErrUnreadable},
		"a password":         {encrypted(t, "secret"), 0, 1000, nil, pades.ErrEncrypted},
		"an empty password":  {encrypted(t, ""), 0, 1000, nil, pades.ErrEncrypted},
		"certified":          {unchangeable(t), 0, 1000, nil, ades.ErrForbidden},
		"page 0":             {empty, 0, 1000, nil, stamp.ErrNoPage},
		"page -1":            {empty, -1, 1000, nil, stamp.ErrNoPage},
		"page 2 of 1":        {empty, 2, 1000, nil, stamp.ErrNoPage},
		"no renderer":        {empty, 1, 1000, nil, stamp.ErrNotDrawn},
		"renderer not ready": {empty, 1, 1000, new(unready), stamp.ErrNotReady},
		"the page is full":   {empty, 1, 4*14 + 1, &blank{}, stamp.ErrNoRoom},
		"the page has room":  {empty, 1, 4 * 14, &blank{}, nil},
		"a small page, full": {small, 1, 5, &blank{}, stamp.ErrNoRoom},
		"a small page":       {small, 1, 4, &blank{}, nil},
		"no signer":          {empty, 1, 0, &blank{}, nil},
		"minus one signer":   {empty, 1, -1, &blank{}, nil},
		"no signer, no page": {empty, 2, 0, &blank{}, stamp.ErrNoPage},
		"no signer, no PDF":  {[]byte("This is no PDF."), 1, 0, &blank{}, ades.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, newPhone(t), signing.Options{Renderer: test.renderer})
			list, err := s.Plan(t.Context(), "an account", s.uploaded(test.content), test.page, stamp.TopLeft, test.signers)
			want := max(test.signers, 0)
			if test.want != nil {
				want = 0
			}
			if !errors.Is(err, test.want) || len(list) != want {
				t.Errorf("%d places, %v; want %d, %v", len(list), err, want, test.want)
			}
		})
	}
	s := newService(t, newPhone(t), signing.Options{})
	if _, err := s.Plan(t.Context(), "an account", "no document", 1, stamp.TopLeft, 1); !errors.Is(err, storage.ErrNotFound) {
		t.Error(err)
	}
}

// renderer draws as servers do, and as long as a busy machine takes.
func renderer(t *testing.T) *pdfium.Renderer {
	t.Helper()
	r := pdfium.New(pdfium.Options{Cache: testenv.RendererCache(), Limit: 2 * time.Minute})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// letter is a page that is not all free.
func letter() []byte {
	return pdftest.Build(pdftest.Options{
		Page: "/MediaBox [0 0 420 300] /Annots [100 0 R]",
		Objects: []string{
			"<< /Type /Annot /Subtype /Stamp /Rect [130 130 250 290] /F 4 /AP << /N 101 0 R >> >>",
			"<< /Type /XObject /Subtype /Form /BBox [0 0 120 160] /Length 29 >>\nstream\n0 0.2 0.6 rg 0 0 120 160 re f\nendstream",
		},
	})
}

// Each place is the one that the signer would find who comes then (spec 3.3), and
// the stamps of an order are drawn there.
func TestPlanIsWhatAutoFinds(t *testing.T) {
	testenv.Slow(t, "sixteen pages are drawn and signed")
	t.Parallel()
	const signers = 4
	o := newOrders(t, newPhone(t), signing.Options{IgnoreInterval: true, Renderer: renderer(t)})
	for name, corner := range map[string]stamp.Corner{
		"top left": stamp.TopLeft, "top right": stamp.TopRight, "bottom left": stamp.BottomLeft, "bottom right": stamp.BottomRight,
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := o.Plan(t.Context(), "an account", o.uploaded(letter()), 1, corner, signers)
			if err != nil {
				t.Fatal(err)
			}
			var found []*signing.Stamp
			for document := letter(); len(found) < signers; {
				started, err := o.startWith(document, func(in *signing.Start) {
					in.Stamp = &signing.StampRequest{Page: 1, Corner: corner, Auto: true}
				})
				if err != nil {
					t.Fatal(err)
				}
				r, err := o.db.Requests().Request(t.Context(), started.ID)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, r.Stamp)
				document = o.poll(started.ID).Document
			}
			if diff := cmp.Diff(found, plan, cmpopts.EquateApprox(0, 0.01)); diff != "" {
				t.Errorf("(-found one after another, +planned):\n%s", diff)
			}
		})
	}
}

// What was planned is what is drawn.
func TestOrdersWithStamps(t *testing.T) {
	t.Parallel()
	o := newOrders(t, newPhone(t), signing.Options{IgnoreInterval: true, Renderer: renderer(t)})
	plan, err := o.Plan(t.Context(), "an account", o.document, 1, stamp.BottomRight, 3)
	if err != nil {
		t.Fatal(err)
	}
	for n, place := range plan {
		id := o.mustOrder(func(in *signing.Start) { in.Order.Stamp = place })
		if got := o.drive(id); got.Failure != nil {
			t.Fatalf("%+v", got.Failure)
		}
		o.wantSignatures(n + 1)
		if drawn := strings.Count(shown(t, o.content()), "A signer"); drawn != n+1 {
			t.Errorf("%d stamps of %d", drawn, n+1)
		}
	}
	for _, place := range plan { // which is a signature's now
		x, y := place.Rect[0], place.Rect[1]
		_, err := o.startWith(o.content(), func(in *signing.Start) {
			in.Stamp = &signing.StampRequest{Page: 1, Corner: stamp.BottomLeft, X: x, Y: y}
		})
		if !errors.Is(err, stamp.ErrOverlap) {
			t.Errorf("%v: %v", place.Rect, err)
		}
	}
}

// A page without room has none for the start that follows a plan, and for the plan that follows a start.
func TestPlanAndStartWithoutRoom(t *testing.T) {
	t.Parallel()
	content := pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 100 30]"})
	s := newService(t, newPhone(t), signing.Options{Renderer: &blank{}})
	plan := func() error {
		_, err := s.Plan(t.Context(), account, s.uploaded(content), 1, stamp.TopLeft, 1)
		return err
	}
	start := func() error {
		_, err := s.startWith(content, func(in *signing.Start) {
			in.Stamp = &signing.StampRequest{Page: 1, Corner: stamp.TopLeft, Auto: true}
		})
		return err
	}
	for _, call := range []func() error{start, plan, start, plan} {
		if err := call(); !errors.Is(err, stamp.ErrNoRoom) {
			t.Errorf("%v, want %v", err, stamp.ErrNoRoom)
		}
	}
}
