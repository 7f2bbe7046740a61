package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Languages are those that the page speaks. The first is for whoever asks for another.
var languages = []string{"is", "en"}

//go:embed words
var wordFiles embed.FS

// words is the catalogue: the text of a key in each language.
var words = readCatalogue()

type catalogue map[string]map[string]string

// readCatalogue reads the files of words, each of which is about some of the pages.
func readCatalogue() catalogue {
	all := make(catalogue)
	files, err := wordFiles.ReadDir("words")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := wordFiles.ReadFile("words/" + file.Name())
		if err != nil {
			panic(err)
		}
		var some catalogue
		if err := json.Unmarshal(text, &some); err != nil {
			panic(fmt.Errorf("words/%s: %w", file.Name(), err))
		}
		for key, texts := range some {
			all[key] = texts
		}
	}
	return all
}

// text is the text of a key, in which each {name} of the pairs is replaced by what follows it. That
// may be anybody's: it is taken for text.
func (c catalogue) text(lang, key string, pairs ...any) string {
	text := c[key][lang]
	var list []string
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, "{"+fmt.Sprint(pairs[i])+"}", fmt.Sprint(pairs[i+1]))
	}
	return strings.NewReplacer(list...).Replace(text)
}

// Date is a time to the minute, as the page writes it in a language, "is" or "en". It is that of Iceland,
// which is UTC.
func Date(lang string, t time.Time) string {
	t = t.UTC()
	month := words.text(lang, fmt.Sprintf("month.%d", t.Month()))
	return words.text(lang, "date", "day", t.Day(), "month", month, "year", t.Year(), "time", t.Format("15:04"))
}

// localKennitala is a kennitala as it is written in Iceland, with a hyphen; what is none stays as it
// is.
func localKennitala(k string) string {
	if len(k) != 10 {
		return k
	}
	return k[:6] + "-" + k[6:]
}
