package main

import (
	"bytes"
	"html/template"
	"net/http"
)

// trialLoginPath is where the pages of an identity provider would be, in a trial.
const trialLoginPath = "/simulated/login"

// trialLoginTemplate plays the provider. Whoever is asked there is who they say they are.
var trialLoginTemplate = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="is">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Prufuinnskráning – Trial login</title>
</head>
<body>
<main>
<h1>Prufu&shy;innskráning <span lang="en">/ Trial login</span></h1>
<p>Þessi síða kemur í stað innskráningarsíðu rafrænu skilríkjanna. Hér er enginn auðkenndur: þú ert sú manneskja sem þú segist vera.</p>
<p lang="en">This page stands in for that of an identity provider. Nobody is identified here: you are who you say you are.</p>
<form action="{{.Back}}" method="get">
<input type="hidden" name="state" value="{{.State}}">
<p><label for="kennitala">Kennitala</label>
<input id="kennitala" name="kennitala" inputmode="numeric" autocomplete="off" maxlength="11" required autofocus></p>
<p><button type="submit">Skrá inn <span lang="en">/ Log in</span></button></p>
</form>
<form action="{{.Back}}" method="get">
<input type="hidden" name="state" value="{{.State}}">
<input type="hidden" name="error" value="access_denied">
<p><button type="submit">Hætta við <span lang="en">/ Cancel</span></button></p>
</form>
</main>
</body>
</html>
`))

// longestState is more than a login's state is.
const longestState = 100

// trialLoginPage is the page of a simulated provider.
func trialLoginPage(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	state := r.URL.Query().Get("state")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
		return
	case state == "" || len(state) > longestState:
		http.Error(w, "There is no login here", http.StatusBadRequest)
		return
	}
	var out bytes.Buffer
	if err := trialLoginTemplate.Execute(&out, map[string]string{"Back": backPath, "State": state}); err != nil {
		http.Error(w, "Internal error", http.StatusInternalServerError)
		return
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	out.WriteTo(w)
}
