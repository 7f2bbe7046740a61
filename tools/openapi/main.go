// Command openapi makes the OpenAPI documents that the server serves, in JSON, from httpapi/openapi.yaml, which people
// edit. "go generate ./httpapi" runs it.
//
//	go run ./tools/openapi FOLDER
//
// FOLDER has openapi.yaml. For each environment a file openapi.ENVIRONMENT.json is written beside it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: openapi FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

// environments are those that have a document of their own.
var environments = []string{"sandbox", "production", "trial"}

func generate(folder string) error {
	source, err := os.ReadFile(filepath.Join(folder, "openapi.yaml"))
	if err != nil {
		return err
	}
	for _, environment := range environments {
		document, err := convert(source, environment)
		if err != nil {
			return fmt.Errorf("openapi.yaml: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, jsonName(environment)), document, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// jsonName returns the name of the file with the document of an environment.
func jsonName(environment string) string { return "openapi." + environment + ".json" }
