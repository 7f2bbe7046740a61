// Package failpoint names points in the code at which tests kill the process, and traces
// calls that may not be made twice. A program built without the tag "failpoints" does
// nothing there.
//
// With the tag, INNSIGLI_FAILPOINT names the point at which the process kills
// itself with SIGKILL, as it would die when the machine does. INNSIGLI_TRACE names a file to
// which each call adds a line when it begins, one when it ends and one when the transaction that
// stores its answer was committed, several processes into one file:
//
//	NAME ID call PID TIME
//	NAME ID return PID OUTCOME TIME
//	NAME ID stored PID TIME
//
// A process that dies between the last two leaves a call that may be made again.
//
// TIME is in milliseconds of Unix time.
package failpoint
