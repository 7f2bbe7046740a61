package sealed

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestParse(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, keyLen))
	for name, test := range map[string]struct {
		text string
		keys int
		err  string
	}{
		"one":                   {good, 1, ""},
		"two with remarks":      {"# first\n" + good + "\n\n  # second\r\n\t" + good + " \r\n", 2, ""},
		"nothing":               {"", 0, "has no key"},
		"remarks alone":         {"# none\n\n", 0, "has no key"},
		"too short":             {good + "\n" + base64.StdEncoding.EncodeToString(make([]byte, 31)), 0, "line 2 must be a key"},
		"too long":              {base64.StdEncoding.EncodeToString(make([]byte, 33)), 0, "line 1 must be a key"},
		"no Base64":             {"# a\n" + strings.Repeat("!", 44), 0, "line 2 must be a key"},
		"Base64 for URLs":       {base64.URLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, keyLen)), 0, "line 1 must be a key"},
		"nonzero trailing bits": {strings.Repeat("A", 42) + "B=", 0, "line 1 must be a key"},
		"a remark behind it":    {good + " # mine", 0, "line 1 must be a key"},
		"the maximum":           {strings.Repeat(good+"\n", maxKeys), maxKeys, ""},
		"above the maximum":     {strings.Repeat(good+"\n", maxKeys+1), 0, "more than 100"},
	} {
		t.Run(name, func(t *testing.T) {
			keys, err := Parse([]byte(test.text))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				for _, line := range strings.Fields(test.text) {
					if len(line) > 10 && strings.Contains(err.Error(), line) {
						t.Errorf("the error contains a key: %v", err)
					}
				}
				return
			}
			if err != nil || len(keys.all) != test.keys {
				t.Errorf("%v, %v", keys, err)
			}
		})
	}
}

// Of concurrent calls one creates the file, which is complete and readable for its owner only, and all read the
// same key.
func TestMakeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "innsigli.key")
	values := make([][]byte, 16)
	var group sync.WaitGroup
	for i := range values {
		group.Go(func() {
			if err := MakeFile(path); err != nil {
				t.Error(err)
				return
			}
			keys, err := ReadFile(path)
			if err != nil {
				t.Error(err)
				return
			}
			values[i] = keys.seal(testKind, "record", []byte("secret"))
		})
	}
	group.Wait()
	keys, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range values {
		if secret, err := keys.open(testKind, "record", value); err != nil || string(secret) != "secret" {
			t.Errorf("%q, %v", secret, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	stat, err := os.Stat(path)
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, %v", stat.Mode(), err)
	}
	another := filepath.Join(t.TempDir(), "innsigli.key")
	if err := MakeFile(another); err != nil {
		t.Fatal(err)
	}
	if keys, err = ReadFile(another); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.open(testKind, "record", values[0]); !errors.Is(err, ErrKey) {
		t.Errorf("another file has the same key: %v", err)
	}
}

func TestReadFilePermissions(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, mode fs.FileMode, content []byte) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		write("all", 0o644, newFile()):                            "chmod 600",
		write("others", 0o604, newFile()):                         "chmod 600",
		write("written", 0o620, newFile()):                        "chmod 600",
		write("long", 0o600, bytes.Repeat([]byte("# \n"), 30000)): "longer than",
		write("nonsense", 0o600, []byte("nonsense")):              "line 1",
		folder:                               "is not a file",
		filepath.Join(folder, "nowhere"):     "no such file",
		filepath.Join(folder, "a", "b", "c"): "no such file",
	} {
		if keys, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v, want %q", path, keys, err, want)
		}
	}
	for _, mode := range []fs.FileMode{0o600, 0o400, 0o440, 0o640} {
		if _, err := ReadFile(write("right", mode, newFile())); err != nil {
			t.Error(err)
		}
		os.Remove(filepath.Join(folder, "right"))
	}
	if err := MakeFile(filepath.Join(folder, "nowhere", "key")); err == nil {
		t.Error("created in a folder that does not exist")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(newFile())
	f.Add([]byte("# nothing\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := Parse(text)
		if (err == nil) != (keys != nil) || keys != nil && len(keys.all) == 0 {
			t.Errorf("%v, %v", keys, err)
		}
	})
}
