// Package failpoint names points in the code at which tests kill the process. A
// program built without the tag "failpoints" does nothing there.
//
// With the tag, INNSIGLI_FAILPOINT names the point at which the process kills
// itself with SIGKILL, as it would die when the machine does.
package failpoint
