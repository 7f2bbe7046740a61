package httpapi

// MappedErrors are the errors of the tables that turn errors into answers.
func MappedErrors() (all []error) {
	for _, row := range problems {
		all = append(all, row.err)
	}
	return all
}

// Routes returns the operations of an API, such as "GET /healthz", each with the scope that it takes: "none" where
// it takes no token, and "any" where any token will do.
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

// Explanations returns what the pages of problems say, by title.
func Explanations() map[string]string {
	all := make(map[string]string)
	for _, e := range explanations {
		all[e.title] = e.text
	}
	return all
}
