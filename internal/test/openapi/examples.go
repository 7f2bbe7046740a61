package openapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Examples says which examples of a document are not what their schemas say: those of bodies, of
// parameters and of headers. Members that no schema describes are faults here too.
func Examples(document []byte) error {
	var err error
	if document, err = Resolve(document); err != nil {
		return err
	}
	c, err := newCompiler(document)
	if err != nil {
		return err
	}
	return c.examples(c.document, nil)
}

// examples judges those at a place and below.
func (c *compiler) examples(v any, at []string) error {
	object, _ := v.(map[string]any)
	if _, has := object["schema"]; has {
		return c.judgeExamples(object, at)
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if list, ok := object[name].([]any); ok && name == "parameters" {
			for _, one := range list {
				faults = append(faults, c.judgeInline(one, at))
			}
			continue
		}
		faults = append(faults, c.examples(object[name], append(at[:len(at):len(at)], name)))
	}
	return errors.Join(faults...)
}

// judgeExamples judges the examples beside a schema.
func (c *compiler) judgeExamples(object map[string]any, at []string) error {
	schema, err := c.schema(append(at[:len(at):len(at)], "schema")...)
	if err != nil {
		return err
	}
	var faults []error
	judge := func(name string, v any) {
		if err := schema.Validate(v); err != nil {
			faults = append(faults, fmt.Errorf("%s: the example %q: %w", strings.Join(at, " "), name, err))
		}
	}
	if one, has := object["example"]; has {
		judge("", one)
	}
	several, _ := object["examples"].(map[string]any)
	for name, one := range several {
		example, _ := one.(map[string]any)
		judge(name, example["value"])
	}
	return errors.Join(faults...)
}

// judgeInline judges the example of a parameter, whose schema is not at a place that has a name.
func (c *compiler) judgeInline(parameter any, at []string) error {
	object, _ := parameter.(map[string]any)
	example, has := object["example"]
	if !has {
		return nil
	}
	name := "parameter of " + strings.Join(at, " ") + " " + fmt.Sprint(object["name"])
	if err := c.AddResource(name, object["schema"]); err != nil {
		return err
	}
	schema, err := c.Compile(name)
	if err != nil {
		return err
	}
	if err := schema.Validate(example); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
