package doc

import "testing"

// TestJoinBase has the examples of Canonical XML 1.1, 2.4, and those of RFC 3986, 5.4, that are
// about what the two have in common.
func TestJoinBase(t *testing.T) {
	for _, test := range []struct{ outer, inner, want string }{
		{"abc/", "../", ""},
		{"../", "../", "../../"},
		{"..", "..", "../../"},
		{"..", "x", "../x"},
		{"..", "../x", "../../x"},
		{"bar/", "foo", "bar/foo"},
		{"something/else", "bar/", "something/bar/"},
		{"http://a/b/c/d;p?q", "g", "http://a/b/c/g"},
		{"http://a/b/c/d;p?q", "g:h", "g:h"},
		{"http://a/b/c/d;p?q", "//g", "http://g"},
		{"http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y"},
		{"http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q"},
		{"http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q"},
		{"http://a/b/c/d;p?q", "g?y#s", "http://a/b/c/g?y"},
		{"http://a/b/c/d;p?q", "/g", "http://a/g"},
		{"http://a/b/c/d;p?q", "../../../g", "http://a/g"},
		{"http://a", "g", "http://a/g"},
		{"http://a/b", "g?y/../x", "http://a/g?y/../x"},
		{"a?b:c", "d", "d"},
		{"./a:b", "c", "c"},
		{"", "d/e", "d/e"},
	} {
		if got := joinBase(test.outer, test.inner); got != test.want {
			t.Errorf("%q with %q is %q, want %q", test.inner, test.outer, got, test.want)
		}
	}
}

func TestRemoveDotSegments(t *testing.T) {
	for path, want := range map[string]string{
		"":                       "",
		".":                      "",
		"..":                     "../",
		"/..":                    "/",
		"//..//..":               "/",
		"a/..":                   "",
		"a/../..":                "../",
		"../../a/../..":          "../../../",
		"a//b/./c":               "a/b/c",
		"a/b/..":                 "a/",
		"/a/b/c/./../../g":       "/a/g",
		"mid/content=5/../6":     "mid/6",
		"...a/..b/../..c":        "...a/..c",
		"a//..//.///b/c/d.e":     "b/c/d.e",
		"/a/../b/":               "/b/",
		"a/b/../c/d/e/../../f/.": "a/c/f/",
	} {
		if got := removeDotSegments(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}
