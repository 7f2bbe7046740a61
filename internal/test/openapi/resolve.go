package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Resolve returns the document with every reference replaced by what it refers to, except references to schemas.
func Resolve(document []byte) ([]byte, error) {
	var root map[string]any
	if err := json.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("openapitest: the document is no object in JSON: %w", err)
	}
	resolved, err := resolve(root, root)
	if err != nil {
		return nil, err
	}
	return json.Marshal(resolved)
}

// resolve returns a value of the document with its references resolved.
func resolve(root map[string]any, v any) (any, error) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			var err error
			if v[i], err = resolve(root, v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if ref, is := v["$ref"].(string); is && !strings.HasPrefix(ref, "#/components/schemas/") {
			var there any = root
			for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				object, _ := there.(map[string]any)
				there = object[name]
			}
			if there == nil {
				return nil, fmt.Errorf("openapitest: the document has no %s", ref)
			}
			return resolve(root, there)
		}
		for name := range v {
			var err error
			if v[name], err = resolve(root, v[name]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
