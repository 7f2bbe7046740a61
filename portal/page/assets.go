package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// stylesheet is one, written in parts.
var stylesheet = join("style/base.css", "style/frame.css", "style/parts.css", "style/forms.css", "style/document.css", "style/print.css")

// script is what pages do better with one.
var script = join("page.js")

func join(names ...string) []byte {
	var whole []byte
	for _, name := range names {
		part, err := assetFiles.ReadFile("assets/" + name)
		if err != nil {
			panic(err)
		}
		whole = append(whole, part...)
	}
	return whole
}

// assetPath is where the files are, and iconName the one that is asked for by a name that stays.
const (
	assetPath = "/sign/assets/"
	iconName  = "icon.svg"
)

// asset is a file that pages load. It is the same for everybody.
type asset struct {
	contentType, cache string
	plain, packed      []byte // packed by gzip; nil: it would be no smaller
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".png": "image/png",
	".svg": "image/svg+xml",
}

func newAsset(extension string, content []byte, cache string) asset {
	a := asset{contentType: assetTypes[extension], cache: cache, plain: content}
	var packed bytes.Buffer
	out, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	out.Write(content)                                           // into memory
	out.Close()
	if packed.Len() < len(content) {
		a.packed = packed.Bytes()
	}
	return a
}

// add gives a file the path that belongs to its content: browsers need never ask again.
func (t theme) add(name, extension string, content []byte) (path string) {
	sum := sha256.Sum256(content)
	file := name + "-" + hex.EncodeToString(sum[:8]) + extension
	t.files[file] = newAsset(extension, content, "public, max-age=31536000, immutable")
	return assetPath + file
}

// assets are the files that pages load: the style, the script, the operator's colours and logo.
func (p *Page) assets() http.Handler {
	return p.serve(func(w http.ResponseWriter, r *http.Request) error {
		a, ok := p.theme.files[r.PathValue("file")]
		if !ok {
			return errNoPage
		}
		return a.write(w, r)
	})
}

func (a asset) write(w http.ResponseWriter, r *http.Request) error {
	header, content := w.Header(), a.plain
	header.Set("Content-Type", a.contentType)
	header.Set("Cache-Control", a.cache)
	if a.packed != nil {
		header.Set("Vary", "Accept-Encoding")
		if takesGzip(r.Header.Get("Accept-Encoding")) {
			header.Set("Content-Encoding", "gzip")
			content = a.packed
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method == http.MethodHead {
		return nil
	}
	w.Write(content) // what fails here, fails for clients that are gone
	return nil
}

// takesGzip says whether gzip is named and not refused (RFC 9110, 12.5.3).
func takesGzip(accepted string) bool {
	for one := range strings.SplitSeq(accepted, ",") {
		name, parameter, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		value, isWeight := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(parameter, " ", "")), "q=")
		weight, err := strconv.ParseFloat(value, 64)
		return !isWeight || err == nil && weight > 0
	}
	return false
}

// icon is a seal in the operator's colour.
func icon(c colour) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">`+
		`<circle cx="16" cy="16" r="15" fill="%s"/>`+
		`<path d="M9 16.5l5 5 9.5-11" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`, c)
}
