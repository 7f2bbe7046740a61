// Package reference serves a page on which people read the OpenAPI document of a server and try its calls. The page is
// Swagger UI, whose files are embedded in the program. A Content-Security-Policy prevents requests to other servers.
//
//	mux.Handle("/reference", reference.Handler(reference.Config{Document: "openapi.json"}))
//	mux.Handle("/reference/", ...) // the same handler
package reference

import (
	"bytes"
	"compress/gzip"
	"embed"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/swaggest/swgui/v5/static"
)

// Path is the path of the page. Its files have paths below it.
const Path = "/reference"

// Config is the configuration of the page.
type Config struct {
	// Title is the title of the page, and Environment the name of the server's environment.
	Title, Environment string
	// Document is the URL of the OpenAPI document, relative to the page.
	Document string
}

// policy permits resources of the same origin, and the data: images and inline styles of Swagger UI. It permits no inline
// scripts.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed assets
var own embed.FS

var pageTemplate = template.Must(template.ParseFS(own, "assets/page.html"))

// files has the files of the page with their media types. The files of Swagger UI are compressed.
var files = map[string]struct {
	kind string
	from fs.FS
	name string
}{
	"start.js":             {scriptType, own, "assets/start.js"},
	"page.css":             {styleType, own, "assets/page.css"},
	"swagger-ui-bundle.js": {scriptType, static.FS, "swagger-ui-bundle.js.gz"},
	"swagger-ui.css":       {styleType, static.FS, "swagger-ui.css.gz"},
}

const scriptType, styleType = "text/javascript; charset=utf-8", "text/css; charset=utf-8"

// Handler serves the page at [Path] and its files below.
func Handler(c Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This page accepts only GET.", http.StatusMethodNotAllowed)
			return
		}
		if r.URL.Path == Path {
			servePage(w, c)
			return
		}
		serveFile(w, r)
	})
}

// servePage serves the page. It ignores errors of writing to a browser that has closed the connection.
func servePage(w http.ResponseWriter, c Config) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-cache")
	_ = pageTemplate.Execute(w, c)
}

// serveFile serves a file, compressed if it is stored so and the browser accepts that.
func serveFile(w http.ResponseWriter, r *http.Request) {
	file, known := files[path.Base(r.URL.Path)]
	if !known || path.Dir(r.URL.Path) != Path {
		http.NotFound(w, r)
		return
	}
	content, err := fs.ReadFile(file.from, file.name)
	if err != nil {
		http.Error(w, "The file could not be read.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Header().Set("Vary", "Accept-Encoding")
	if path.Ext(file.name) != ".gz" {
		_, _ = w.Write(content)
		return
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(content)
		return
	}
	if plain, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
		_, _ = io.Copy(w, plain)
	}
}
