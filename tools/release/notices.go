package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceName matches the files in which modules say under which conditions they may be passed on.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|notice|patents)([-.].*)?$`)

// notices are the licences of everything that is in a program, which have to go with it.
func (s source) notices(ctx context.Context, b built) ([]byte, error) {
	text := new(bytes.Buffer)
	fmt.Fprintf(text, "What others made in this program, and under which conditions.\n")
	goroot, err := output(ctx, s.folder, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := notice(text, "Go "+strings.TrimPrefix(b.info.GoVersion, "go"), goroot); err != nil {
		return nil, err
	}
	folders, err := s.folders(ctx, b)
	if err != nil {
		return nil, err
	}
	for i, m := range b.info.Deps {
		if err := notice(text, m.Path+" "+m.Version, folders[i]); err != nil {
			return nil, err
		}
	}
	for _, part := range embedded {
		content, err := os.ReadFile(filepath.Join(s.folder, part.licence))
		if err != nil {
			return nil, err
		}
		write(text, part.name, filepath.Base(part.licence), content)
	}
	return text.Bytes(), nil
}

// embedded is what is in the program and is no module.
var embedded = []struct{ name, licence string }{
	{"Noto Sans", "stamp/fonts/OFL.txt"},
	{"PDFium", "stamp/pdfium/LICENSES.txt"},
}

// folders are where the modules of a program lie, in the same order.
func (s source) folders(ctx context.Context, b built) ([]string, error) {
	args := []string{"list", "-m", "-f", "{{.Dir}}"}
	for _, m := range b.info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced, which a release is not made of", m.Path)
		}
		args = append(args, m.Path)
	}
	printed, err := output(ctx, s.folder, b.environment(), "go", args...)
	if err != nil {
		return nil, err
	}
	folders := strings.Split(printed, "\n")
	if len(folders) != len(b.info.Deps) || slices.Contains(folders, "") {
		return nil, fmt.Errorf("the module cache lacks some of the %d modules", len(b.info.Deps))
	}
	return folders, nil
}

// notice writes all that a folder says about conditions. One that says nothing cannot be passed on.
func notice(text *bytes.Buffer, name, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if !licenceName.MatchString(e.Name()) {
			continue
		}
		err := filepath.WalkDir(filepath.Join(folder, e.Name()), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if err == nil {
				write(text, name, e.Name(), content)
				found = true
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", name, folder)
	}
	return nil
}

func write(text *bytes.Buffer, name, file string, content []byte) {
	line := strings.Repeat("-", 78)
	fmt.Fprintf(text, "\n%s\n%s: %s\n%s\n\n%s\n", line, name, file, line, bytes.TrimSpace(content))
}
