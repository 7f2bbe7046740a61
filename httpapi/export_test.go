package httpapi

// MappedErrors returns the errors in the table of problems.
func MappedErrors() (all []error) {
	for _, row := range problems {
		all = append(all, row.err)
	}
	return all
}

// Routes returns the operations of an API, such as "GET /healthz", each with its scope: "none" if it takes no token,
// and "any" if it accepts any token.
func Routes(c Config) map[string]string {
	all := make(map[string]string)
	for _, o := range (&api{Config: c}).operations() {
		scope := o.scope
		switch {
		case o.call == nil:
			scope = "none"
		case scope == noScope:
			scope = "any"
		}
		all[o.method+" "+o.path] = scope
	}
	return all
}

// Explanations returns the texts of the problem pages by title.
func Explanations() map[string]string {
	all := make(map[string]string)
	for _, e := range explanations {
		all[e.title] = e.text
	}
	return all
}
