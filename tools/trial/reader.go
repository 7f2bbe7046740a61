package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// reader is a person on the signing page, who logs in on the simulated provider's page.
type reader struct {
	cookies map[string]string // Secure ones too, which the server sends over http
	base    string
	path    string // of the person's page
}

// logIn opens the link of an invitation and logs in.
func (r *reader) logIn(ctx context.Context, link string) error {
	at, text, err := r.follow(ctx, http.MethodGet, link, nil)
	if err != nil {
		return err
	}
	form := hiddenFields(text, at+"/login")
	form.Set("way", "browser")
	if _, text, err = r.follow(ctx, http.MethodPost, at+"/login", form); err != nil {
		return err
	}
	back := hiddenFields(text, "/sign/back")
	back.Del("error") // of the form that cancels
	back.Set("kennitala", "0101302989")
	r.path, _, err = r.follow(ctx, http.MethodGet, "/sign/back?"+back.Encode(), nil)
	return err
}

// isPersons reports whether a path is that of a person's page, which is not loaded, since it has the text of all pages.
func isPersons(path string) bool {
	return strings.Count(path, "/") == 3 && strings.HasPrefix(path, "/sign/")
}

// page returns the status of the picture of a page.
func (r *reader) page(ctx context.Context, number, width int) int {
	response, err := r.do(ctx, http.MethodGet, fmt.Sprintf("%s/pages/%d/%d?revision=0", r.path, number, width), nil)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// follow makes a request and follows where it leads, and returns the path and the text of the page there.
func (r *reader) follow(ctx context.Context, method, path string, form url.Values) (at, text string, err error) {
	for range 10 {
		response, err := r.do(ctx, method, path, form)
		if err != nil {
			return "", "", err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return "", "", err
		}
		next := response.Header.Get("Location")
		if after, to, ok := strings.Cut(response.Header.Get("Refresh"), ";"); ok && after == "0" {
			_, next, _ = strings.Cut(to, "=")
		}
		if next == "" {
			if response.StatusCode != http.StatusOK {
				err = fmt.Errorf("%s: status %d", path, response.StatusCode)
			}
			return strings.TrimPrefix(path, r.base), string(body), err
		}
		method, path, form = http.MethodGet, strings.TrimPrefix(next, r.base), nil
		if isPersons(path) {
			return path, "", nil
		}
	}
	return "", "", fmt.Errorf("%s leads to no page", path)
}

func (r *reader) do(ctx context.Context, method, path string, form url.Values) (*http.Response, error) {
	if !strings.HasPrefix(path, r.base) {
		path = r.base + path
	}
	request, err := http.NewRequestWithContext(ctx, method, path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range r.cookies {
		request.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	for _, c := range response.Cookies() {
		r.cookies[c.Name] = c.Value
	}
	return response, nil
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// hiddenFields returns the hidden fields of the form that goes to a path.
func hiddenFields(text, path string) url.Values {
	_, rest, _ := strings.Cut(text, `action="`+html.EscapeString(path)+`"`)
	inside, _, _ := strings.Cut(rest, "</form>")
	form := make(url.Values)
	for _, field := range hiddenField.FindAllStringSubmatch(inside, -1) {
		form.Set(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	return form
}
