// Package browser plays scenes on the signing page, and on the reference of the API, in a real browser. Only tests import it.
//
//	scenes := browsertest.Play(t, browsertest.Stage{BaseURL: base, API: api, Token: token, Mail: folder})
//
// The browser is Debian's Chromium or its headless shell, driven by playwright-core in a Node process; .ci/tools installs
// both, and without them the test ends as testenv.Absent says. Each scene has visitors of its own,
// which are browsers without cookies, and processes that it makes through the API. What the program
// prints of a scene becomes a subtest.
//
// The scenes are in *.mjs: main.mjs plays them, scene.mjs is what each of them has, people.mjs the
// participants, hands.mjs what a person does on a page. In every scene it is a fault when the browser
// reports a violation of the page's Content-Security-Policy, when a page asks for anything of another
// origin or says in a Referer where it was, when a dialog opens, when a script fails, and when the
// server answers with a status of 500 or more, or with other than the picture of a page that is asked for.
package browser

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Stage is where scenes are played. Folders and files are absolute.
type Stage struct {
	BaseURL string `json:"base"`  // of the pages, on localhost, where cookies may be Secure
	API     string `json:"api"`   // base of the API's addresses
	Token   string `json:"token"` // of a client with the scopes of the Portal API
	Mail    string `json:"mail"`  // folder of the server's letters
	// Document is a PDF of one page with text. Text and Scan are big ones of many pages, the first of
	// which is one of text, and a scan.
	Document string `json:"document"`
	Text     string `json:"text"`
	Scan     string `json:"scan"`
	// Warned is a PDF of two pages with a script, of which the second cannot be drawn.
	Warned string `json:"warned"`
	// Past is a process whose time is over.
	Past Past `json:"past"`
	// Provider is the origin of the pages on which people log in, and Person the one who does so there;
	// empty: the server plays the provider. The scenes are others then.
	Provider string `json:"provider"`
	Person   Person `json:"person"`
	// Client is a client of a sandbox, on whose reference of the API it tries a call; empty: the scenes are
	// those of a signing page.
	Client Client `json:"client"`
	// Only is a part of the names of the scenes to play; empty: all.
	Only string `json:"only"`
	// Screenshots is a folder for pictures of the pages; empty: none are made.
	Screenshots string `json:"-"`

	scripts []string // those that have scenes; nil: all
}

// Past is a process in which one person had logged in, and another had not.
type Past struct {
	Link      string `json:"link"`      // of who had not
	Place     string `json:"place"`     // path of the page of who had
	Kennitala string `json:"kennitala"` // of the same person
}

// Client is an API client.
type Client struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
}

// Person has an electronic ID.
type Person struct {
	Name      string `json:"name"`
	Kennitala string `json:"kennitala"`
	Phone     string `json:"phone"`
}

// Scene is what became of a scene.
type Scene struct {
	Name    string             `json:"name"`
	OK      bool               `json:"ok"`
	Detail  string             `json:"detail"` // what was tried and seen, or what is wrong
	Took    float64            `json:"ms"`
	Figures map[string]float64 `json:"figures"`
	Files   []File             `json:"files"`
}

// File is a downloaded file.
type File struct {
	Path    string   `json:"path"`
	Signers []string `json:"signers"` // what they typed to log in, a kennitala or a phone number, in the order of signing
}

// Needed ends the test early where what Play needs is absent.
func Needed(t testing.TB) {
	t.Helper()
	browser(t)
	testenv.Tool(t, "openid/bin/node")
	for _, name := range []string{"playwright-core", "axe-core", "mailparser"} {
		testenv.Tool(t, "browser/node_modules/"+name)
	}
}

// browser is Chromium's headless shell if there is one, which draws the same pages in a third of the processor's time,
// or else the whole Chromium, which INNSIGLI_FULL=1 has first.
func browser(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("chromium-headless-shell"); err == nil && !testenv.Full() {
		return path
	}
	return testenv.Program(t, "chromium")
}

// patience is half of what the test has, so that a scene says what it waited for before the time is up.
func patience(t *testing.T) time.Duration {
	if deadline, ok := t.Deadline(); ok {
		return time.Until(deadline) / 2
	}
	return time.Hour
}

// Play plays the scenes, each of which is a subtest, and returns them by name.
func Play(t *testing.T, s Stage) map[string]Scene {
	t.Helper()
	played := make(map[string]Scene)
	s.play(t, func(one Scene) {
		t.Run(one.Name, func(t *testing.T) { one.tell(t) })
		played[one.Name] = one
	})
	return played
}

// play calls a function with each scene that has ended.
func (s Stage) play(t *testing.T, ended func(Scene)) {
	t.Helper()
	Needed(t)
	folder := unpack(t)
	if s.Provider != "" {
		s.scripts = []string{"provider"}
	}
	if s.Client != (Client{}) {
		s.scripts = []string{"reference"}
	}
	settings, err := json.Marshal(struct {
		Stage
		Scripts []string `json:"scripts"`
		Files   string   `json:"files"` // folder for downloads
		Browser string   `json:"browser"`
		// Patience is how long anything may take in a scene, in milliseconds.
		Patience int64 `json:"patience"`
	}{s, s.scripts, t.TempDir(), browser(t), patience(t).Milliseconds()})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "settings.json"), settings, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := start(t, folder, s.Screenshots)
	var names []string
	if err := lines.next(&names); err != nil {
		t.Fatalf("browsertest: the names of the scenes: %v\n%s", err, lines.talk())
	}
	if len(names) == 0 {
		t.Fatalf("browsertest: no scene has %q in its name", s.Only)
	}
	for n := range names {
		var one Scene
		if err := lines.next(&one); err != nil {
			t.Fatalf("browsertest: %v after %d scenes of %q\n%s", err, n, names, lines.talk())
		}
		ended(one)
	}
	if err := lines.wait(); err != nil {
		t.Errorf("browsertest: %v\n%s", err, lines.talk())
	}
}

// tell makes a scene the outcome of a test.
func (s Scene) tell(t *testing.T) {
	t.Helper()
	if !s.OK {
		t.Error(s.Detail)
		return
	}
	t.Logf("%s (%.1f s)", s.Detail, s.Took/1000)
	for _, name := range slices.Sorted(maps.Keys(s.Figures)) {
		t.Logf("figure: %s: %.0f", name, s.Figures[name])
	}
}
